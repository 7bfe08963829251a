import { Injectable } from '@nestjs/common';
import type { Call } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { existingLeadsSql } from '../leads/lead-exists.js';
import { NAME_SQL, withFieldsOfLead } from '../leads/lead-fields.js';
import { addFilter } from '../../platform/data/filters/filter-sql.js';
import { Conditions } from '../../platform/data/lists/conditions.js';
import { ListedRepository } from '../../platform/data/lists/listed-repository.js';
import {
  APPOINTMENT_GROUPINGS,
  type AppointmentFilters,
  AppointmentListQuery,
  APPOINTMENTS,
} from './appointment.dto.js';
import { Appointment } from './appointment.entity.js';

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
      computed,
    };
    super(database, list, { lead_id: existingLeadsSql });
  }

  protected conditionsOf(call: Call, query: AppointmentFilters) {
    const conditions = new Conditions(call, this.table.notDeleted)
      .equal('status', query.status)
      .equal('type', query.type)
      .equal('lead_id', query.lead_id, 'uuid')
      .add('start_time >= ?', query.start_after)
      .add('start_time < ?', query.start_before)
      .add('end_time < ?', query.end_before)
      // An appointment starts before it ends. This condition is redundant, and can use an index.
      .add('start_time < ?', query.end_before)
      .updatedWithin(query);
    return addFilter(call, conditions, APPOINTMENTS, query.filter);
  }
}
