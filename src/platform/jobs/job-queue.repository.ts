import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { uuidsIn } from '../fields/kinds/uuid.js';
import { ORGANIZATION_COLUMNS, type OrganizationColumns, type TenantCall } from '../data/call.js';
import { TenantDatabase } from '../data/gateway/tenant-database.js';
import { SystemDatabase } from '../data/gateway/system-database.js';
import { LEASE } from './leases.js';

/** The jobs whose payload has the id of a record. */
export const JOBS_ABOUT_RECORDS = { name: 'jobs', rows: 'record_ids && $2::uuid[]' };

/** A job to be stored. */
interface NewJob {
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
 * row makes the worker wait for this transaction before it stores the end of the run. The job is in the trace of the last
 * one who sent it.
 */
const SEND_AGAIN = `do update set
  run_at = case when jobs.is_running then jobs.run_at else least(jobs.run_at, excluded.run_at) end,
  run_again_at = case when jobs.is_running then least(jobs.run_again_at, excluded.run_at) end,
  traceparent = excluded.traceparent`;

/** How many jobs of a name a worker takes. */
interface JobCapacity {
  readonly name: string;
  readonly free: number;
  /** Whether jobs of suspended organizations stay in the queue. */
  readonly waitsWhileSuspended?: boolean;
}

/** A job that a worker has taken. */
export interface ClaimedJob extends OrganizationColumns {
  readonly id: string;
  readonly name: string;
  readonly payload: unknown;
  /** The number of this attempt, from 1. It identifies the claim. */
  readonly attempts: number;
  /** The trace of what sent it. */
  readonly traceparent: string | null;
}

/** Selects failed jobs by name and id. Without both, it selects all. */
export interface FailedJobFilter {
  readonly name?: string;
  readonly id?: string;
}

/** The leases of jobs. `attempts` counts the claims of a job, and `run_at` of a claimed one is the end of its lease. */
export const JOB_LEASES = {
  name: 'jobs',
  until: 'run_at',
  key: { organization_id: 'uuid', id: 'uuid', attempts: 'int' },
  isLeased: 'is_running and failed_at is null',
};

/** The leases of the runs of schedules. */
export const SCHEDULE_LEASES = {
  name: 'job_schedules',
  until: 'locked_until',
  key: { name: 'text' },
  isLeased: 'locked_until is not null',
};

/** How long failed jobs are kept. */
const RETENTION = `interval '30 days'`;

/** No earlier job with the ordering key of this one waits or runs. */
const IS_NEXT = `(ordering_key is null or not exists (select from jobs earlier
  where earlier.organization_id = jobs.organization_id and earlier.name = jobs.name
    and earlier.ordering_key = jobs.ordering_key and earlier.failed_at is null
    and earlier.id < jobs.id))`;

// Without `materialized`, a plan could run the subquery more than once, and take more jobs each time.
const CLAIM = `
  with due as materialized (
    select due.* from unnest($1::text[], $2::int[], $3::boolean[]) as wanted (name, free, waits_while_suspended)
    cross join lateral (
      select organization_id, id from jobs
      where name = wanted.name and failed_at is null and run_at <= now()
        and ($4::uuid is null or organization_id = $4)
        and not (waits_while_suspended and exists (
          select from organizations where organizations.id = jobs.organization_id and suspended))
        and ${IS_NEXT}
      order by run_at, id limit wanted.free for update skip locked) due)
  update jobs set attempts = attempts + 1, run_at = now() + ${LEASE}, is_running = true,
    run_again_at = case when run_again_at > now() then run_again_at end
  from due join organizations organization on organization.id = due.organization_id
  where jobs.organization_id = due.organization_id and jobs.id = due.id
  returning jobs.id, jobs.name, jobs.payload, jobs.attempts, jobs.traceparent,
    ${ORGANIZATION_COLUMNS}`;

const OLDEST_DUE = `
  select wanted.name, extract(epoch from now() - oldest.run_at)::float8 as seconds
  from unnest($1::text[]) as wanted (name) cross join lateral (
    select run_at from jobs
    where name = wanted.name and failed_at is null and run_at <= now() and ${IS_NEXT}
      and not exists (select from organizations where organizations.id = jobs.organization_id and suspended)
    order by run_at limit 1) as oldest`;

const IS_CLAIM = 'organization_id = $1 and id = $2 and attempts = $3 and failed_at is null';

/** Makes a job that was sent again while it ran wait for its next run. */
const RUN_AGAIN = `
  update jobs set run_at = run_again_at, run_again_at = null, is_running = false, attempts = 0, last_error = null
  where ${IS_CLAIM} and run_again_at is not null`;

const SEND_TO_ALL = `
  insert into jobs (organization_id, id, name, payload, record_ids, key, run_at)
  select id, gen_random_uuid(), $1, '{}', '{}', $1, now() from organizations
  on conflict (organization_id, name, key) where key is not null and failed_at is null do nothing`;

/** `$1` and `$2` are the name and the id of a `FailedJobFilter`. */
const IS_FAILED = `failed_at is not null and ($1::text is null or name = $1)
  and ($2::uuid is null or id = $2)`;

const LIST_FAILED = `select organization_id, id, name, attempts, failed_at, last_error from jobs
  where ${IS_FAILED} order by failed_at desc, id limit 100`;

// Of the failed jobs with the same key, the latest runs again, unless another job with the key waits or runs.
const RETRY_FAILED = `with chosen as (
    select distinct on (organization_id, name, coalesce(key, id::text)) organization_id, id from jobs
    where ${IS_FAILED} and not exists (select from jobs other where other.organization_id = jobs.organization_id
      and other.name = jobs.name and other.key = jobs.key and other.failed_at is null)
    order by organization_id, name, coalesce(key, id::text), id desc)
  update jobs set failed_at = null, attempts = 0, run_at = now(), last_error = null from chosen
  where jobs.organization_id = chosen.organization_id and jobs.id = chosen.id returning jobs.id`;

/** No instance carries out a run of the schedule. */
const IS_FREE = '(locked_until is null or locked_until <= now())';

/**
 * Stores the jobs of organizations, and when each scheduled job runs next. Workers take both over all instances, store
 * the outcomes, and let failed jobs run again.
 */
@Injectable()
export class JobQueueRepository {
  constructor(
    private readonly database: SystemDatabase,
    private readonly tenantDatabase: TenantDatabase,
  ) {}

  /**
   * Stores a job, in the transaction of the call if there is one.
   * @returns the id of the job, which with `runAgain` can be that of an earlier one; undefined if nothing
   *   was stored
   * @throws ApiError `create_failed`
   */
  async insert(call: TenantCall, job: NewJob): Promise<string | undefined> {
    const { name, payload, key, orderingKey, delayMs, runAgain } = job;
    const options = [key, orderingKey, delayMs, call.traceparent];
    const [row] = await this.tenantDatabase.write<{ id: string }>(call, {
      text: `insert into jobs (organization_id, id, name, payload, record_ids, key, ordering_key, run_at, traceparent)
        values ($1, $2, $3, $4, $5, $6, $7, now() + $8 * interval '1 ms', $9)
        on conflict (organization_id, name, key) where key is not null and failed_at is null
        ${runAgain ? SEND_AGAIN : 'do nothing'} returning id`,
      values: [...[call.tenant.id, uuidv7(), name, payload, uuidsIn(payload)], ...options],
    });
    return row?.id;
  }

  /**
   * Takes jobs that are due. No other worker takes them before the end of the lease.
   * @param capacities how many jobs of each name this worker can take
   * @param organizationId takes only jobs of this organization
   */
  claim(capacities: readonly JobCapacity[], organizationId?: string): Promise<ClaimedJob[]> {
    return this.database.inBackground<ClaimedJob>(CLAIM, [
      capacities.map(({ name }) => name),
      capacities.map(({ free }) => free),
      capacities.map(({ waitsWhileSuspended = false }) => waitsWhileSuspended),
      organizationId,
    ]);
  }

  /** Removes a job that has ended, unless it was sent again meanwhile. */
  async remove(job: ClaimedJob): Promise<void> {
    await this.end(job, `delete from jobs where ${IS_CLAIM} and run_again_at is null`);
  }

  /**
   * For how long the oldest job of each name has been due that no worker has taken, without those of suspended
   * organizations.
   */
  oldestDue(names: readonly string[]): Promise<{ name: string; seconds: number }[]> {
    return this.database.inBackground(OLDEST_DUE, [names]);
  }

  /** Puts a claimed job that did not run back into the queue. */
  async release(job: ClaimedJob): Promise<void> {
    const text = `update jobs set run_at = now(), is_running = false, attempts = attempts - 1
      where ${IS_CLAIM}`;
    await this.database.inBackground(text, claimOf(job));
  }

  /** Lets a job run again after a delay. */
  async retry(job: ClaimedJob, error: string, delayMs: number): Promise<void> {
    await this.database.inBackground(
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
    await this.database.inBackground(`delete from jobs where failed_at < now() - ${RETENTION}`);
  }

  /** The latest 100 jobs that have used all their attempts, each with the type of its last error. */
  listFailed({ name, id }: FailedJobFilter): Promise<object[]> {
    return this.database.inBackground(LIST_FAILED, [name, id]);
  }

  /** Lets failed jobs run again, with all their attempts. @returns how many */
  async retryFailed({ name, id }: FailedJobFilter): Promise<number> {
    return (await this.database.inBackground(RETRY_FAILED, [name, id])).length;
  }

  /** Stores a job of this name for every organization in which none is waiting or running. */
  async sendToAllOrganizations(name: string): Promise<void> {
    await this.database.inBackground(SEND_TO_ALL, [name]);
  }

  /** The time of the database, which all instances share. */
  async now(): Promise<Date> {
    const [row] = (await this.database.inBackground('select now()')) as [{ now: Date }];
    return row.now;
  }

  /** Stores the next run of a schedule. An earlier one that another instance stored stays. */
  async registerSchedule(name: string, next: Date): Promise<void> {
    await this.database.inBackground(
      `insert into job_schedules (name, next_run_at) values ($1, $2)
       on conflict (name) do update
       set next_run_at = least(job_schedules.next_run_at, excluded.next_run_at)`,
      [name, next],
    );
  }

  /** The schedules that are due and not running, and the time of the database. */
  findDueSchedules(names: readonly string[]): Promise<{ name: string; now: Date }[]> {
    return this.database.inBackground(
      `select name, now() from job_schedules
       where name = any($1) and next_run_at <= now() and ${IS_FREE}`,
      [names],
    );
  }

  /**
   * Takes a run that is due.
   * @param next the run after it
   * @returns whether this instance has taken it, and no other one
   */
  async claimSchedule(name: string, next: Date): Promise<boolean> {
    const claimed = await this.database.inBackground(
      `update job_schedules set next_run_at = $2, locked_until = now() + ${LEASE}
       where name = $1 and next_run_at <= now() and ${IS_FREE} returning name`,
      [name, next],
    );
    return claimed.length > 0;
  }

  /**
   * Ends the claim of a run, unless another instance has taken a later run after the end of its lease.
   * @param next the run after it
   */
  async releaseSchedule(name: string, next: Date): Promise<void> {
    await this.database.inBackground(
      'update job_schedules set locked_until = null where name = $1 and next_run_at <= $2',
      [name, next],
    );
  }

  /** Ends a run by a statement. If the job was sent again meanwhile, it waits for its next run instead. */
  private async end(job: ClaimedJob, text: string, ...values: unknown[]): Promise<void> {
    const claim = claimOf(job);
    // The first statement waits for a transaction that sends the job. Only a second one sees its result.
    await this.database.allInBackground([
      { text, values: [...claim, ...values] },
      { text: RUN_AGAIN, values: claim },
    ]);
  }
}

function claimOf({ organization_id, id, attempts }: ClaimedJob): unknown[] {
  return [organization_id, id, attempts];
}
