import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { ADMINISTRATION } from '../connection/data-source-names.js';
import type { OrganizationColumns } from '../call.js';
import {
  queryAcrossOrganizations,
  runAcrossOrganizations,
} from '../tenant-role/across-organizations.js';

/** A job that a worker has taken. */
export interface ClaimedJob extends OrganizationColumns {
  readonly id: string;
  readonly name: string;
  readonly payload: unknown;
  /** The number of this attempt, from 1. It identifies the claim. */
  readonly attempts: number;
}

/** How many jobs of a name a worker can take. */
export interface Capacity {
  readonly name: string;
  readonly free: number;
}

/**
 * How long a claim lasts unless it is extended. The jobs of a process that was killed run again after
 * this time.
 */
const LEASE = `interval '20 seconds'`;

/** How long failed jobs are kept. */
const RETENTION = `interval '30 days'`;

// `run_at` of a claimed job is the end of its lease. `attempts` identifies a claim of a job. Without
// `materialized`, a plan could run the subquery more than once, and take more jobs each time.
const CLAIM = `
  with due as materialized (
    select due.* from unnest($1::text[], $2::int[]) as wanted (name, free) cross join lateral (
      select organization_id, id from jobs
      where name = wanted.name and failed_at is null and run_at <= now()
        and (ordering_key is null or not exists (select from jobs earlier
          where earlier.organization_id = jobs.organization_id and earlier.name = jobs.name
            and earlier.ordering_key = jobs.ordering_key and earlier.failed_at is null
            and earlier.id < jobs.id))
      order by run_at, id limit wanted.free for update skip locked) due)
  update jobs set attempts = attempts + 1, run_at = now() + ${LEASE}, is_running = true,
    run_again_at = case when run_again_at > now() then run_again_at end
  from due join organizations organization on organization.id = due.organization_id
  where jobs.organization_id = due.organization_id and jobs.id = due.id
  returning jobs.organization_id, jobs.id, jobs.name, jobs.payload, jobs.attempts,
    organization.name as organization_name, organization.phone_region`;

const IS_CLAIM = 'organization_id = $1 and id = $2 and attempts = $3 and failed_at is null';

/** Makes a job that was sent again while it ran wait for its next run. */
const RUN_AGAIN = `
  update jobs set run_at = run_again_at, run_again_at = null, is_running = false, attempts = 0, last_error = null
  where ${IS_CLAIM} and run_again_at is not null`;

const EXTEND = `
  update jobs set run_at = now() + ${LEASE}
  from unnest($1::uuid[], $2::uuid[], $3::int[]) as claim (organization_id, id, attempts)
  where jobs.organization_id = claim.organization_id and jobs.id = claim.id
    and jobs.attempts = claim.attempts and failed_at is null`;

const SEND_TO_ALL = `
  insert into jobs (organization_id, id, name, payload, record_ids, key, run_at)
  select id, gen_random_uuid(), $1, '{}', '{}', $1, now() from organizations
  on conflict (organization_id, name, key) where key is not null and failed_at is null do nothing`;

/** Takes jobs of all organizations and stores their outcomes. */
@Injectable()
export class JobWorkerRepository {
  constructor(@InjectDataSource(ADMINISTRATION) private readonly dataSource: DataSource) {}

  /** Takes jobs that are due. No other worker takes them before the end of the lease. */
  claim(capacities: readonly Capacity[]): Promise<ClaimedJob[]> {
    const names = capacities.map(({ name }) => name);
    return this.query<ClaimedJob>(CLAIM, [names, capacities.map(({ free }) => free)]);
  }

  /** Extends the leases of running jobs. */
  async extend(jobs: readonly ClaimedJob[]): Promise<void> {
    await this.query(EXTEND, [
      jobs.map(({ organization_id }) => organization_id),
      jobs.map(({ id }) => id),
      jobs.map(({ attempts }) => attempts),
    ]);
  }

  /** Removes a job that has ended, unless it was sent again meanwhile. */
  async remove(job: ClaimedJob): Promise<void> {
    await this.end(job, `delete from jobs where ${IS_CLAIM} and run_again_at is null`);
  }

  /** Puts a claimed job that did not run back into the queue. */
  async release(job: ClaimedJob): Promise<void> {
    const text = `update jobs set run_at = now(), is_running = false, attempts = attempts - 1
      where ${IS_CLAIM}`;
    await this.query(text, claimOf(job));
  }

  /** Lets a job run again after a delay. */
  async retry(job: ClaimedJob, error: string, delayMs: number): Promise<void> {
    await this.query(
      `update jobs set run_at = least(now() + $4 * interval '1 ms', run_again_at), run_again_at = null,
         is_running = false, last_error = $5
       where ${IS_CLAIM}`,
      [...claimOf(job), delayMs, error],
    );
  }

  /** Keeps a job that has used all its attempts, for inspection, unless it was sent again meanwhile. */
  async fail(job: ClaimedJob, error: string): Promise<void> {
    await this.end(
      job,
      `update jobs set failed_at = now(), is_running = false, last_error = $4
       where ${IS_CLAIM} and run_again_at is null`,
      error,
    );
  }

  async removeOldFailures(): Promise<void> {
    await this.query(`delete from jobs where failed_at < now() - ${RETENTION}`, []);
  }

  /** Stores a job of this name for every organization in which none is waiting or running. */
  async sendToAllOrganizations(name: string): Promise<void> {
    await this.query(SEND_TO_ALL, [name]);
  }

  /** Ends a run by a statement. If the job was sent again meanwhile, it waits for its next run instead. */
  private async end(job: ClaimedJob, text: string, ...values: unknown[]): Promise<void> {
    const claim = claimOf(job);
    // The first statement waits for a transaction that sends the job. Only a second one sees its result.
    await runAcrossOrganizations(this.dataSource, [
      { text, values: [...claim, ...values] },
      { text: RUN_AGAIN, values: claim },
    ]);
  }

  private query<Row>(text: string, values: readonly unknown[]): Promise<Row[]> {
    return queryAcrossOrganizations<Row>(this.dataSource, text, values);
  }
}

function claimOf({ organization_id, id, attempts }: ClaimedJob): unknown[] {
  return [organization_id, id, attempts];
}
