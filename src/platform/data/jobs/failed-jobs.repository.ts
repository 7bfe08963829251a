import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { ADMINISTRATION } from '../connection/data-source-names.js';
import { queryAcrossOrganizations } from '../tenant-role/across-organizations.js';

/** A job that has used all its attempts. */
export interface FailedJob {
  readonly organization_id: string;
  readonly id: string;
  readonly name: string;
  readonly attempts: number;
  readonly failed_at: Date;
  /** The type of the last error. */
  readonly last_error: string;
}

/** Selects failed jobs by name and id. Without both, it selects all. */
export interface FailedJobFilter {
  readonly name?: string;
  readonly id?: string;
}

const MATCHES = `failed_at is not null and ($1::text is null or name = $1)
  and ($2::uuid is null or id = $2)`;

const LIST = `select organization_id, id, name, attempts, failed_at, last_error from jobs
  where ${MATCHES} order by failed_at desc, id limit 100`;

// Of the failed jobs with the same key, the latest runs again, unless another job with the key waits or runs.
const RETRY = `with chosen as (
    select distinct on (organization_id, name, coalesce(key, id::text)) organization_id, id from jobs
    where ${MATCHES} and not exists (select from jobs other where other.organization_id = jobs.organization_id
      and other.name = jobs.name and other.key = jobs.key and other.failed_at is null)
    order by organization_id, name, coalesce(key, id::text), id desc)
  update jobs set failed_at = null, attempts = 0, run_at = now(), last_error = null from chosen
  where jobs.organization_id = chosen.organization_id and jobs.id = chosen.id returning jobs.id`;

/** The failed jobs of all organizations. */
@Injectable()
export class FailedJobsRepository {
  constructor(@InjectDataSource(ADMINISTRATION) private readonly dataSource: DataSource) {}

  /** Returns the latest 100. */
  list({ name, id }: FailedJobFilter): Promise<FailedJob[]> {
    return queryAcrossOrganizations(this.dataSource, LIST, [name, id]);
  }

  /** Lets jobs run again, with all their attempts. @returns how many */
  async retry({ name, id }: FailedJobFilter): Promise<number> {
    return (await queryAcrossOrganizations(this.dataSource, RETRY, [name, id])).length;
  }
}
