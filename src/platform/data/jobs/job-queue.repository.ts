import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { uuidsIn } from '../../fields/kinds/uuid.js';
import { TenantDatabase } from '../gateway/tenant-database.js';
import type { TenantCall } from '../call.js';

/** The jobs whose payload has the id of a record. */
export const JOBS_ABOUT_RECORDS = { name: 'jobs', rows: 'record_ids && $2::uuid[]' };

/** A job to be stored. */
export interface NewJob {
  readonly name: string;
  /** JSON. */
  readonly payload: string;
  readonly key?: string;
  /** What happens if a job with the same name and key waits or runs: it runs again, or nothing. */
  readonly runAgain?: boolean;
  readonly orderingKey?: string;
  readonly delayMs: number;
}

/**
 * Moves a waiting job to the earlier time, and makes a running one run again at this time. The lock on the
 * row makes the worker wait for this transaction before it stores the end of the run.
 */
const RUN_AGAIN = `do update set
  run_at = case when jobs.is_running then jobs.run_at else least(jobs.run_at, excluded.run_at) end,
  run_again_at = case when jobs.is_running then least(jobs.run_again_at, excluded.run_at) end`;

/** Stores and removes the jobs of an organization. */
@Injectable()
export class JobQueueRepository {
  constructor(private readonly database: TenantDatabase) {}

  /**
   * Stores a job, in the transaction of the call if there is one.
   * @returns the id of the job, which with `runAgain` can be that of an earlier one; undefined if nothing
   *   was stored
   * @throws ApiError `create_failed`
   */
  async insert(call: TenantCall, job: NewJob): Promise<string | undefined> {
    const { name, payload, key, orderingKey, delayMs, runAgain } = job;
    const options = [key, orderingKey, delayMs];
    const [row] = await this.database.write<{ id: string }>(call, {
      text: `insert into jobs (organization_id, id, name, payload, record_ids, key, ordering_key, run_at)
        values ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 ms')
        on conflict (organization_id, name, key) where key is not null and failed_at is null
        ${runAgain ? RUN_AGAIN : 'do nothing'} returning id`,
      values: [...[call.tenant.id, uuidv7(), name, payload, uuidsIn(payload)], ...options],
    });
    return row?.id;
  }
}
