import { Injectable } from '@nestjs/common';
import type { Call, InTransaction } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { existingLeadsSql } from '../leads/lead-exists.js';
import { includedLead, NAME_SQL, withFieldsOfLead } from '../leads/lead-fields.js';
import { addFilter } from '../../platform/data/filters/filter-sql.js';
import { Conditions } from '../../platform/data/lists/conditions.js';
import { ListedRepository } from '../../platform/data/lists/listed-repository.js';
import {
  APPOINTMENT_GROUPINGS,
  APPOINTMENT_INCLUDES,
  type AppointmentFilters,
  type AppointmentStatus,
  NextAppointmentDto,
  AppointmentListQuery,
  APPOINTMENTS,
} from './appointment.dto.js';
import { Appointment } from './appointment.entity.js';
import { jsonColumnsOf } from '../../platform/data/records/stored-record.js';
import { jsonSchemaOf, nullable } from '../../platform/fields/schema/schema-of.js';
import { LEAD_INCLUDES } from '../leads/lead.dto.js';

const NEXT_STATUSES = ['scheduled', 'confirmed'] satisfies AppointmentStatus[];

APPOINTMENT_INCLUDES.provide('lead', includedLead('appointments', 'lead_id'));

LEAD_INCLUDES.provide('next_appointment', {
  schema: {
    ...nullable(jsonSchemaOf(NextAppointmentDto, 'output')),
    description: 'The earliest future appointment that is scheduled or confirmed.',
  },
  sql: `select row_to_json(next) from (select ${jsonColumnsOf(NextAppointmentDto)} from appointments
    where organization_id = $1 and lead_id = leads.id and appointments.start_time > now()
      and status in ('${NEXT_STATUSES.join("', '")}')
    order by appointments.start_time, id limit 1) next`,
});

/** SQL of appointments. */
@Injectable()
export class AppointmentsRepository extends ListedRepository<Appointment, AppointmentListQuery> {
  constructor(database: TenantDatabase) {
    const ofLead = { lead_name: NAME_SQL, lead_phone: 'phone', lead_email: 'email' };
    const computed = withFieldsOfLead(ofLead, 'appointments', 'lead_id');
    const list = {
      entity: Appointment,
      query: AppointmentListQuery,
      groupings: APPOINTMENT_GROUPINGS,
      includes: APPOINTMENT_INCLUDES,
      computed,
    };
    super(database, list, { lead_id: existingLeadsSql });
  }

  /**
   * The resources that appointments have.
   * @throws ApiError `create_failed`
   */
  async resourcesOf(call: InTransaction, ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return [];
    const rows = await call.transaction.query<{ resource_id: string }>({
      text: `select distinct resource_id from appointments
        where organization_id = $1 and id = any($2::uuid[]) and resource_id is not null`,
      values: [call.tenant.id, ids],
    });
    return rows.map(({ resource_id }) => resource_id);
  }

  protected conditionsOf(call: Call, query: AppointmentFilters) {
    const conditions = new Conditions(call, this.table.notDeleted)
      .equal('status', query.status)
      .equal('type', query.type)
      .equal('lead_id', query.lead_id, 'uuid')
      .equal('resource_id', query.resource_id, 'uuid')
      .add('start_time >= ?', query.start_after)
      .add('start_time < ?', query.start_before)
      .add('end_time < ?', query.end_before)
      // An appointment starts before it ends. This condition is redundant, and can use an index.
      .add('start_time < ?', query.end_before)
      .updatedWithin(query);
    return addFilter(call, conditions, APPOINTMENTS, query.filter);
  }
}
