import { Injectable } from '@nestjs/common';
import { uuidsIn } from '../../fields/uuid.js';
import { TenantDatabase } from '../gateway/tenant-database.js';
import type { Tenant, TenantTransaction } from '../gateway/tenant.js';

/** A job to be stored. */
export interface NewJob {
  readonly id: string;
  readonly name: string;
  /** JSON. */
  readonly payload: string;
  readonly key: string | null;
  readonly orderingKey: string | null;
  readonly delayMs: number;
}

/** Stores and removes the jobs of an organization. */
@Injectable()
export class JobQueueRepository {
  constructor(private readonly database: TenantDatabase) {}

  /**
   * Stores a job, in the transaction of the tenant if there is one.
   * @returns false if a job with the same name and key is waiting or running
   * @throws ApiError `create_failed`
   */
  async insert(tenant: Tenant, job: NewJob): Promise<boolean> {
    const { id, name, payload, key, orderingKey, delayMs } = job;
    const rows = await this.database.write(tenant, {
      text: `insert into jobs (organization_id, id, name, payload, record_ids, key, ordering_key, run_at)
        values ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 ms')
        on conflict (organization_id, name, key) where key is not null and failed_at is null do nothing
        returning id`,
      values: [tenant.id, id, name, payload, uuidsIn(payload), key, orderingKey, delayMs],
    });
    return rows.length > 0;
  }

  /**
   * Removes the jobs whose payload has the id of one of these records.
   * @throws ApiError `create_failed`
   */
  async deleteForRecords(
    transaction: TenantTransaction,
    { id }: Tenant,
    recordIds: readonly string[],
  ): Promise<void> {
    if (recordIds.length === 0) return;
    await transaction.query({
      text: 'delete from jobs where organization_id = $1 and record_ids && $2::uuid[]',
      values: [id, recordIds],
    });
  }
}
