import { Injectable } from '@nestjs/common';
import type { TenantCall } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import type { Row } from '../../platform/data/records/record-changes.js';
import type { Stored } from '../../platform/data/records/stored-record.js';
import { TenantRepository } from '../../platform/data/records/tenant-repository.js';
import { existingLeadsSql } from '../leads/lead-exists.js';
import { withLeadName } from '../leads/lead-name.js';
import { Conditions } from '../../platform/data/lists/conditions.js';
import type { CursorPage, Page } from '../../platform/data/lists/page.js';
import { RecordList } from '../../platform/data/lists/record-list.js';
import { type AppointmentDto, AppointmentListQuery } from './appointment.dto.js';
import { Appointment } from './appointment.entity.js';

const WITH_LEAD_NAME = withLeadName('lead_name', 'appointments', 'lead_id');

/** SQL of appointments. */
@Injectable()
export class AppointmentsRepository extends TenantRepository<Appointment> {
  private readonly items = new RecordList<AppointmentDto>(this.database, {
    entity: Appointment,
    query: AppointmentListQuery,
    computed: WITH_LEAD_NAME,
  });

  constructor(database: TenantDatabase) {
    super(database, Appointment, WITH_LEAD_NAME);
  }

  /** @throws ApiError `query_failed` */
  list(call: TenantCall, query: AppointmentListQuery): Promise<Page<AppointmentDto>> {
    return this.items.page(this.conditionsOf(call, query), query);
  }

  /** Like `list`, by cursor. */
  listAfter(call: TenantCall, query: AppointmentListQuery): Promise<CursorPage<AppointmentDto>> {
    return this.items.pageAfter(this.conditionsOf(call, query), query);
  }

  private conditionsOf(call: TenantCall, query: AppointmentListQuery) {
    return (
      new Conditions(call, this.table.notDeleted)
        .equal('status', query.status)
        .equal('type', query.type)
        .equal('lead_id', query.lead_id, 'uuid')
        .add('start_time >= ?', query.start_after)
        .add('start_time < ?', query.start_before)
        .add('end_time < ?', query.end_before)
        // An appointment starts before it ends. This condition is redundant, and can use an index.
        .add('start_time < ?', query.end_before)
        .updatedWithin(query)
    );
  }

  /**
   * @returns undefined if the lead does not exist or is deleted
   * @throws ApiError `create_failed`
   */
  insert(call: TenantCall, row: Row & { id: string }): Promise<Stored<AppointmentDto> | undefined> {
    return this.insertStored(call, row, { lead_id: existingLeadsSql });
  }

  /**
   * @returns undefined for each appointment whose lead does not exist or is deleted
   * @throws ApiError `create_failed`
   */
  insertTogether(call: TenantCall, rows: readonly (Row & { id: string })[]) {
    return this.insertEach(call, rows, { lead_id: existingLeadsSql });
  }
}
