import { Injectable } from '@nestjs/common';
import type { Tenant, TenantTransaction } from '../gateway/tenant.js';

/** The tables with events. The outbox comes first, because the publisher moves events to the other one. */
const TABLES = ['event_outbox', 'events'];

/** Reads and removes the events of an organization. */
@Injectable()
export class EventsRepository {
  /**
   * Removes the events of records.
   * @throws ApiError `create_failed`
   */
  async deleteForRecords(
    transaction: TenantTransaction,
    { id }: Tenant,
    recordIds: readonly string[],
  ): Promise<void> {
    if (recordIds.length === 0) return;
    for (const table of TABLES) {
      await transaction.query({
        text: `delete from ${table} where organization_id = $1 and record_id = any($2::uuid[])`,
        values: [id, recordIds],
      });
    }
  }
}
