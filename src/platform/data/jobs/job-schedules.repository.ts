import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { ADMINISTRATION } from '../connection/data-source-names.js';
import { queryAcrossOrganizations } from '../tenant-role/across-organizations.js';

/** How long the claim of a run lasts unless it is extended. */
const LEASE = `interval '20 seconds'`;

const IS_FREE = '(locked_until is null or locked_until <= now())';

/** Stores when each scheduled job runs next, for all instances. */
@Injectable()
export class JobSchedulesRepository {
  constructor(@InjectDataSource(ADMINISTRATION) private readonly dataSource: DataSource) {}

  /** The time of the database, which all instances share. */
  async now(): Promise<Date> {
    const [{ now }] = (await this.query<{ now: Date }>('select now()')) as [{ now: Date }];
    return now;
  }

  /** Stores the next run of a schedule. An earlier one that another instance stored stays. */
  async register(name: string, next: Date): Promise<void> {
    await this.query(
      `insert into job_schedules (name, next_run_at) values ($1, $2)
       on conflict (name) do update
       set next_run_at = least(job_schedules.next_run_at, excluded.next_run_at)`,
      [name, next],
    );
  }

  /** The schedules that are due and not running, and the time of the database. */
  findDue(names: readonly string[]): Promise<{ name: string; now: Date }[]> {
    return this.query(
      `select name, now() from job_schedules
       where name = any($1) and next_run_at <= now() and ${IS_FREE}`,
      [names],
    );
  }

  /**
   * Takes a run that is due.
   * @param next the run after it
   * @returns the end of the lease, which identifies the claim; undefined if another instance took it
   */
  async claim(name: string, next: Date): Promise<Date | undefined> {
    const [row] = await this.query<{ locked_until: Date }>(
      `update job_schedules set next_run_at = $2, locked_until = now() + ${LEASE}
       where name = $1 and next_run_at <= now() and ${IS_FREE} returning locked_until`,
      [name, next],
    );
    return row?.locked_until;
  }

  /** @returns the new end of the lease; undefined if another instance took the schedule meanwhile */
  async extend(name: string, claim: Date): Promise<Date | undefined> {
    const [row] = await this.query<{ locked_until: Date }>(
      `update job_schedules set locked_until = now() + ${LEASE}
       where name = $1 and locked_until = $2 returning locked_until`,
      [name, claim],
    );
    return row?.locked_until;
  }

  async release(name: string, claim: Date): Promise<void> {
    await this.query(
      'update job_schedules set locked_until = null where name = $1 and locked_until = $2',
      [name, claim],
    );
  }

  private query<Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return queryAcrossOrganizations<Row>(this.dataSource, text, values);
  }
}
