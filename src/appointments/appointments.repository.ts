import { Injectable } from '@nestjs/common';
import { TenantDatabase } from '../database/tenant-database.js';
import { NEXT_UPDATED_AT, type Row, TenantRepository } from '../database/tenant-repository.js';
import { leadsDeletedBefore, liveLead } from '../leads/live-lead.js';
import { Conditions, readPage } from '../listing/list-statement.js';
import type { Page } from '../listing/page.js';
import { AppointmentDto, type AppointmentListQuery } from './appointment.dto.js';

/** All SQL of appointments. */
@Injectable()
export class AppointmentsRepository extends TenantRepository<AppointmentDto> {
  constructor(database: TenantDatabase) {
    super(database, { name: 'appointments', record: AppointmentDto, live: 'true' });
  }

  /** @throws ApiError `query_failed` */
  list(organizationId: string, query: AppointmentListQuery): Promise<Page<AppointmentDto>> {
    const conditions = new Conditions(organizationId)
      .add('status = ?', query.status)
      .add('lead_id = ?', query.lead_id)
      .add('start_time >= ?', query.start_after)
      .add('start_time < ?', query.start_before);
    const sort = { column: query.sort_by, nullable: false };
    const source = { table: this.table.name, item: AppointmentDto, sort };
    return readPage<AppointmentDto>(this.database, source, conditions, query);
  }

  /**
   * @returns undefined where the lead does not live
   * @throws ApiError `create_failed`
   */
  insert(
    organizationId: string,
    { lead_id, ...row }: Row & { lead_id: string },
  ): Promise<AppointmentDto | undefined> {
    return this.insertIf(liveLead('$1', '$2'), organizationId, { lead_id, ...row });
  }

  /**
   * Cancels an appointment; it stays readable, and cancelling it again changes nothing.
   * @returns whether there is such an appointment
   * @throws ApiError `create_failed`
   */
  async cancel(organizationId: string, id: string): Promise<boolean> {
    const rows = await this.database.write(organizationId, {
      text: `update ${this.table.name} set status = 'cancelled',
          updated_at = case when status = 'cancelled' then updated_at else ${NEXT_UPDATED_AT} end
        where ${this.theRecord} returning id`,
      values: [organizationId, id],
    });
    return rows.length > 0;
  }

  /** An appointment goes with its lead. */
  protected override get purgeable(): string {
    return `lead_id in (${leadsDeletedBefore('$1', '$2')})`;
  }
}
