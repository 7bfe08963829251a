import { Injectable } from '@nestjs/common';
import { WorkerDatabase } from '../gateway/worker-database.js';

/** How long the claim of a run lasts unless it is extended. */
const LEASE = `interval '20 seconds'`;

const IS_FREE = '(locked_until is null or locked_until <= now())';

/** Stores when each scheduled job runs next, for all instances. */
@Injectable()
export class JobSchedulesRepository {
  constructor(private readonly database: WorkerDatabase) {}

  /** The time of the database, which all instances share. */
  async now(): Promise<Date> {
    const [row] = (await this.database.query('select now()')) as [{ now: Date }];
    return row.now;
  }

  /** Stores the next run of a schedule. An earlier one that another instance stored stays. */
  async register(name: string, next: Date): Promise<void> {
    await this.database.query(
      `insert into job_schedules (name, next_run_at) values ($1, $2)
       on conflict (name) do update
       set next_run_at = least(job_schedules.next_run_at, excluded.next_run_at)`,
      [name, next],
    );
  }

  /** The schedules that are due and not running, and the time of the database. */
  findDue(names: readonly string[]): Promise<{ name: string; now: Date }[]> {
    return this.database.query(
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
  async claim(name: string, next: Date): Promise<boolean> {
    const claimed = await this.database.query(
      `update job_schedules set next_run_at = $2, locked_until = now() + ${LEASE}
       where name = $1 and next_run_at <= now() and ${IS_FREE} returning name`,
      [name, next],
    );
    return claimed.length > 0;
  }

  /** Extends the claims of runs, unless they were released. */
  async extend(names: readonly string[]): Promise<void> {
    await this.database.query(
      `update job_schedules set locked_until = now() + ${LEASE}
       where name = any($1) and locked_until is not null`,
      [names],
    );
  }

  /**
   * Ends the claim of a run, unless another instance has taken a later run after the end of its lease.
   * @param next the run after it
   */
  async release(name: string, next: Date): Promise<void> {
    await this.database.query(
      'update job_schedules set locked_until = null where name = $1 and next_run_at <= $2',
      [name, next],
    );
  }
}
