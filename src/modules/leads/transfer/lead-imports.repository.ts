import { Injectable } from '@nestjs/common';
import type { BatchResultDto } from '../../../platform/data/batches/batch.dto.js';
import type { InTransaction, TenantCall } from '../../../platform/data/call.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import { Conditions } from '../../../platform/data/lists/conditions.js';
import type { Page } from '../../../platform/data/lists/page.js';
import { RecordList } from '../../../platform/data/lists/record-list.js';
import { TenantRepository } from '../../../platform/data/records/tenant-repository.js';
import type { LeadImportDto, LeadImportListQuery } from './lead-import.dto.js';
import { type ImportPlan, LeadImport } from './lead-import.entity.js';
import type { Place } from './file-records.js';

/** How long a process may carry out an import without progress, before another one takes it over. */
const LEASE = `interval '20 seconds'`;

/** How long imports are kept, with the lines that were rejected. */
const RETENTION = `interval '7 days'`;

/** How long a file without an import is kept: longer than an upload takes. */
const UPLOAD_TIME = `interval '1 hour'`;

/** Files that one statement removes. Small batches keep locks short. */
const BATCH = 10;

/** Rejected lines that one statement removes or empties, so that it ends in time. */
const LINES = 5_000;

const IS_ACTIVE = `status in ('pending', 'running')`;
const NOW = `date_trunc('milliseconds', now())`;

/** An import that this process carries out, and its position. */
export type RunningImport = Place &
  Readonly<Required<Pick<LeadImport, 'id' | 'dry_run' | 'plan' | 'starter'>>> & {
    readonly runner: string;
  };

const RUNNING = 'id, dry_run, plan, starter, runner, position as "offset", line';

/** A line that was rejected. */
export interface RejectedLine {
  readonly line: number;
  readonly reason: string;
  /** Those of the file. An erasure of a person empties them. */
  readonly cells: unknown;
}

/** SQL that ends imports that have not ended, with the status `$2` and the error `$3`, and removes their files. */
function endSql(condition = ''): string {
  return `with ended as (
      update lead_imports
      set status = $2, error = $3, ended_at = ${NOW}, updated_at = ${NOW}, leased_until = null
      where organization_id = $1 and ${IS_ACTIVE} ${condition} returning id)
    delete from lead_import_chunks where organization_id = $1 and import_id in (select id from ended)`;
}

const IS_OLD = `created_at < now() - ${RETENTION}`;

const REMOVE_OLD_LINES = `
  delete from lead_import_rejections where organization_id = $1 and ctid = any(array(
    select rejection.ctid from lead_imports
    join lead_import_rejections rejection on rejection.organization_id = $1 and import_id = id
    where lead_imports.organization_id = $1 and ${IS_OLD} limit ${LINES}))
  returning line`;

/** Removes old imports. Their files are then lost. */
const REMOVE_OLD = `
  delete from lead_imports where organization_id = $1 and id = any(array(
    select id from lead_imports where organization_id = $1 and ${IS_OLD} limit ${BATCH}))
  returning id`;

/** Removes the files of removed imports, and those that were not stored completely. */
const REMOVE_LOST = `
  delete from lead_import_chunks where organization_id = $1 and import_id in (
    select distinct import_id from lead_import_chunks
    where organization_id = $1 and created_at < now() - ${UPLOAD_TIME} and not exists (
      select from lead_imports where organization_id = $1 and id = import_id) limit ${BATCH})
  returning import_id`;

/** Empties some lines after `$3` of the import `$2` and of later ones that are not empty. Returns the last one. */
const EMPTY_LINES = `
  with lines as (
    select import_id, line from lead_import_rejections
    where organization_id = $1 and (import_id, line) > ($2, $3) and cells::text <> '[]'
    order by import_id, line limit ${LINES}),
  emptied as (
    update lead_import_rejections set cells = '[]'
    where organization_id = $1 and (import_id, line) in (select import_id, line from lines))
  select import_id, line from lines order by import_id desc, line desc limit 1`;

const FIRST_LINE = { import_id: '00000000-0000-0000-0000-000000000000', line: 0 };

/** SQL of imports and their files. */
@Injectable()
export class LeadImportsRepository extends TenantRepository<LeadImport> {
  private readonly items = new RecordList<LeadImportDto>(this.database, { entity: LeadImport });

  constructor(database: TenantDatabase) {
    super(database, LeadImport);
  }

  /** @throws ApiError `query_failed` */
  list(call: TenantCall, { status, ...query }: LeadImportListQuery): Promise<Page<LeadImportDto>> {
    const conditions = new Conditions(call, this.table.notDeleted).equal('status', status);
    return this.items.page(conditions, query);
  }

  /** @throws ApiError `create_failed` */
  async countActive(call: TenantCall): Promise<number> {
    const [row] = await this.database.readForWrite<{ count: number }>(call, {
      text: `select count(*)::int as count from lead_imports where organization_id = $1 and ${IS_ACTIVE}`,
      values: [call.tenant.id],
    });
    return row?.count ?? 0;
  }

  /** Stores a part of a file. @throws ApiError `create_failed` */
  async insertChunk(call: TenantCall, id: string, number: number, data: Buffer): Promise<void> {
    await this.database.write(call, {
      text: `insert into lead_import_chunks (organization_id, import_id, number, data)
        values ($1, $2, $3, $4)`,
      values: [call.tenant.id, id, number, data],
    });
  }

  /** @throws ApiError `query_failed` */
  async findChunk(call: TenantCall, id: string, number: number): Promise<Buffer | undefined> {
    const [row] = await this.database.read<{ data: Buffer }>(call, {
      text: `select data from lead_import_chunks
        where organization_id = $1 and import_id = $2 and number = $3`,
      values: [call.tenant.id, id, number],
      plan: 'index',
    });
    return row?.data;
  }

  /** Removes a file that has no import. @throws ApiError `create_failed` */
  async discardFile(call: TenantCall, id: string): Promise<void> {
    await this.database.write(call, {
      text: `delete from lead_import_chunks where organization_id = $1 and import_id = $2
        and not exists (select from lead_imports where organization_id = $1 and id = $2)`,
      values: [call.tenant.id, id],
    });
  }

  /**
   * Locks the imports of the organization until the transaction ends, so that none is started, claimed or erased meanwhile.
   * @throws ApiError `create_failed`
   */
  async lock({ transaction, tenant }: InTransaction): Promise<void> {
    await transaction.query({
      text: `select pg_advisory_xact_lock(hashtextextended('lead imports ' || $1, 0))`,
      values: [tenant.id],
    });
  }

  /** Whether all bytes of a file are stored. @throws ApiError `create_failed` */
  async isStored(call: TenantCall, id: string, bytes: number): Promise<boolean> {
    const [row] = await this.database.readForWrite<{ bytes: number }>(call, {
      text: `select coalesce(sum(length(data)), 0)::int as bytes from lead_import_chunks
        where organization_id = $1 and import_id = $2`,
      values: [call.tenant.id, id],
    });
    return row?.bytes === bytes;
  }

  /**
   * Takes an import, unless a process carries it out, or carries out another import of the organization.
   * @returns `busy` if it has to wait; undefined if it has ended
   * @throws ApiError `create_failed`
   */
  claim(call: TenantCall, id: string, runner: string): Promise<RunningImport | 'busy' | undefined> {
    return this.database.transaction(call, async (inner) => {
      const { transaction, tenant } = inner;
      await this.lock(inner);
      // A lease of this import itself, of a process that has ended, counts as well.
      const [claimed] = await transaction.query<RunningImport>({
        text: `update lead_imports set status = 'running', runner = $3, leased_until = now() + ${LEASE},
            started_at = coalesce(started_at, ${NOW}), updated_at = ${NOW}
          where organization_id = $1 and id = $2 and ${IS_ACTIVE} and not exists (
            select from lead_imports where organization_id = $1 and leased_until > now() and ${IS_ACTIVE})
          returning ${RUNNING}`,
        values: [tenant.id, id, runner],
      });
      if (claimed) return claimed;
      const [active] = await transaction.query({
        text: `select from lead_imports where organization_id = $1 and id = $2 and ${IS_ACTIVE}`,
        values: [tenant.id, id],
      });
      return active ? 'busy' : undefined;
    });
  }

  /**
   * Locks an import until the transaction ends.
   * @returns whether this process still carries it out
   * @throws ApiError `create_failed`
   */
  async holds(
    { transaction, tenant }: InTransaction,
    { id, runner }: RunningImport,
  ): Promise<boolean> {
    const rows = await transaction.query({
      text: `select from lead_imports
        where organization_id = $1 and id = $2 and runner = $3 and status = 'running' for update`,
      values: [tenant.id, id, runner],
    });
    return rows.length > 0;
  }

  /** Stores the progress after a portion, the lines of one transaction, and extends the lease. @throws ApiError `create_failed` */
  async advance(
    { transaction, tenant }: InTransaction,
    { id }: RunningImport,
    next: Place,
    results: readonly BatchResultDto[],
    rejections: readonly RejectedLine[],
  ): Promise<void> {
    if (rejections.length > 0) {
      // A column of the type json takes \u0000, which the functions of PostgreSQL for JSON refuse.
      const columns = [
        rejections.map(({ line }) => line),
        rejections.map(({ reason }) => reason),
        rejections.map(({ cells }) => JSON.stringify(cells)),
      ];
      await transaction.query({
        text: `insert into lead_import_rejections (organization_id, import_id, line, reason, cells)
          select $1, $2, * from unnest($3::int[], $4::text[], $5::json[])`,
        values: [tenant.id, id, ...columns],
      });
    }
    const count = (status: BatchResultDto['status']) =>
      results.filter((result) => result.status === status).length;
    const counts = [count('created'), count('updated'), count('unchanged'), rejections.length];
    await transaction.query({
      text: `update lead_imports set position = $3, line = $4, created = created + $5::int,
          updated = updated + $6::int, unchanged = unchanged + $7::int, rejected = rejected + $8::int,
          processed = processed + $5 + $6 + $7 + $8, leased_until = now() + ${LEASE}, updated_at = ${NOW}
        where organization_id = $1 and id = $2`,
      values: [tenant.id, id, next.offset, next.line, ...counts],
    });
  }

  /** Lets another process continue an import. @throws ApiError `create_failed` */
  async release(call: TenantCall, { id, runner }: RunningImport): Promise<void> {
    await this.database.write(call, {
      text: `update lead_imports set leased_until = null
        where organization_id = $1 and id = $2 and runner = $3 and ${IS_ACTIVE}`,
      values: [call.tenant.id, id, runner],
    });
  }

  /**
   * Ends an import that has not ended, and removes its file.
   * @throws ApiError `create_failed`
   */
  async end(
    call: TenantCall,
    id: string,
    status: 'completed' | 'cancelled' | 'failed',
    error: string | null,
  ): Promise<void> {
    const values = [call.tenant.id, status, error, id];
    await this.database.write(call, { text: endSql('and id = $4'), values });
  }

  /**
   * Cancels the imports that have not ended and were begun by then, and removes their files.
   * @throws ApiError `create_failed`
   */
  async cancelAll(call: TenantCall, begunBy: Date, error: string): Promise<void> {
    const values = [call.tenant.id, 'cancelled', error, begunBy];
    await this.database.write(call, { text: endSql('and created_at <= $4'), values });
  }

  /**
   * Empties the cells of all rejected lines, in batches of which each is a transaction of its own.
   * @throws ApiError `create_failed`
   */
  async emptyRejected(call: TenantCall): Promise<void> {
    let last: typeof FIRST_LINE | undefined = FIRST_LINE;
    while (last) {
      const values: unknown[] = [call.tenant.id, last.import_id, last.line];
      [last] = await this.database.write<typeof FIRST_LINE>(call, { text: EMPTY_LINES, values });
    }
  }

  /**
   * Cancels the imports that have not ended, removes all files, also those of running uploads, and empties the cells of all
   * rejected lines, because neither files nor lines tell which person they are about. It locks imports before leads, as a
   * portion does. `emptyRejected` runs before it, so that few lines are left.
   * @throws ApiError `create_failed`
   */
  async erase(call: InTransaction, error: string): Promise<void> {
    const { transaction, tenant } = call;
    await this.lock(call);
    await transaction.query({ text: endSql(), values: [tenant.id, 'cancelled', error] });
    await transaction.query({
      text: 'delete from lead_import_chunks where organization_id = $1',
      values: [tenant.id],
    });
    // A statement of its own sees the lines of portions that the first one waited for.
    await transaction.query({
      text: `update lead_import_rejections set cells = '[]' where organization_id = $1 and cells::text <> '[]'`,
      values: [tenant.id],
    });
  }

  /**
   * Rejected lines after a line, in their order.
   * @throws ApiError `query_failed`
   */
  findRejected(
    call: TenantCall,
    id: string,
    after: number,
    limit: number,
  ): Promise<RejectedLine[]> {
    return this.database.read(call, {
      text: `select line, reason, cells from lead_import_rejections
        where organization_id = $1 and import_id = $2 and line > $3 order by line limit $4`,
      values: [call.tenant.id, id, after, limit],
    });
  }

  /** The plan of an import. @throws ApiError `query_failed` */
  async findPlan(call: TenantCall, id: string): Promise<ImportPlan | undefined> {
    const [row] = await this.database.read<{ plan: ImportPlan }>(call, {
      text: 'select plan from lead_imports where organization_id = $1 and id = $2',
      values: [call.tenant.id, id],
    });
    return row?.plan;
  }

  /**
   * Removes imports that are older than 7 days, and files that were not stored completely.
   * @throws ApiError `create_failed`
   */
  async removeOld(call: TenantCall): Promise<void> {
    const values = [call.tenant.id];
    for (const text of [REMOVE_OLD_LINES, REMOVE_OLD, REMOVE_LOST]) {
      while ((await this.database.write(call, { text, values })).length > 0);
    }
  }
}
