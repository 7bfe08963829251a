import { Injectable } from '@nestjs/common';
import { AuditLog } from '../../../platform/data/audit/audit-log.js';
import type { InTransaction, TenantCall } from '../../../platform/data/call.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import { Conditions } from '../../../platform/data/lists/conditions.js';
import type { Page } from '../../../platform/data/lists/page.js';
import { RecordList } from '../../../platform/data/lists/record-list.js';
import { TenantRepository } from '../../../platform/data/records/tenant-repository.js';
import type { LeadImportDto, LeadImportListQuery } from './lead-import.dto.js';
import { type ImportPlan, LeadImport } from './lead-import.entity.js';
import type { Place } from './file-records.js';
import {
  ImportLinesRepository,
  type LineResult,
  type RejectedLine,
} from './import-lines.repository.js';
import {
  type BegunImport,
  type EndedImport,
  type ImportEnd,
  ImportMonitor,
} from './import-monitor.js';

/** How long imports are kept, with the results of their lines. */
const RETENTION = `interval '7 days'`;

/** How long a file without an import is kept: longer than an upload takes. */
const UPLOAD_TIME = `interval '1 hour'`;

/** Files that one statement removes. Small batches keep locks short. */
const BATCH = 10;

const IS_ACTIVE = `status in ('pending', 'running')`;
const NOW = `date_trunc('milliseconds', now())`;

/** An import that is carried out, and its position. */
export type RunningImport = Place &
  Readonly<Required<Pick<LeadImport, 'id' | 'dry_run' | 'plan' | 'starter'>>>;

const RUNNING = 'id, dry_run, plan, starter, position as "offset", line';

/** Ends the lease of an instance of version 0.4, which then ends its run. */
const END_LEASE = 'runner = null, leased_until = null';

/**
 * SQL that ends imports that have not ended, with the status `$2` and the error `$3`, and removes their files. It returns
 * these imports.
 */
function endSql(condition = ''): string {
  return `with ended as (
      update lead_imports
      set status = $2, error = $3, ended_at = ${NOW}, updated_at = ${NOW}, ${END_LEASE}
      where organization_id = $1 and ${IS_ACTIVE} ${condition}
      returning id, status, lines, created, updated, unchanged, rejected,
        extract(epoch from ended_at - started_at)::float8 as seconds),
    removed as (
      delete from lead_import_chunks where organization_id = $1 and import_id in (select id from ended))
    select * from ended`;
}

const IS_OLD = `created_at < now() - ${RETENTION}`;

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

/** SQL of imports and their files. */
@Injectable()
export class LeadImportsRepository extends TenantRepository<LeadImport> {
  private readonly items = new RecordList<LeadImportDto>(this.database, { entity: LeadImport });

  constructor(
    database: TenantDatabase,
    private readonly results: ImportLinesRepository,
    private readonly monitor: ImportMonitor,
    private readonly audit: AuditLog,
  ) {
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
   * Locks the imports of the organization until the transaction ends, so that none is started or erased meanwhile.
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
   * Begins an import, or continues it.
   * @returns undefined if it has ended
   * @throws ApiError `create_failed`
   */
  async begin(call: TenantCall, id: string): Promise<RunningImport | undefined> {
    const [begun] = await this.database.write<RunningImport & BegunImport & { isFirst: boolean }>(
      call,
      {
        text: `update lead_imports set status = 'running', ${END_LEASE},
            started_at = coalesce(started_at, ${NOW}), updated_at = ${NOW}
          where organization_id = $1 and id = $2 and ${IS_ACTIVE}
          returning ${RUNNING}, format, mode, bytes, lines, started_at = updated_at as "isFirst"`,
        values: [call.tenant.id, id],
      },
    );
    if (!begun) return undefined;
    const { isFirst, format, mode, bytes, lines, ...running } = begun;
    if (isFirst) {
      this.monitor.begun(call, { id, format, mode, dry_run: running.dry_run, bytes, lines });
    }
    return running;
  }

  /**
   * Locks an import until the transaction ends.
   * @param offset where the next portion begins
   * @returns whether it runs and no other run has stored this portion
   * @throws ApiError `create_failed`
   */
  async lockAt(
    { transaction, tenant }: InTransaction,
    id: string,
    { offset }: Place,
  ): Promise<boolean> {
    const rows = await transaction.query({
      text: `select from lead_imports
        where organization_id = $1 and id = $2 and position = $3 and status = 'running' for update`,
      values: [tenant.id, id, offset],
    });
    return rows.length > 0;
  }

  /** Stores the progress after a portion, the lines of one transaction. @throws ApiError `create_failed` */
  async advance(
    call: InTransaction,
    { id }: RunningImport,
    next: Place,
    results: readonly LineResult[],
    rejections: readonly RejectedLine[],
  ): Promise<void> {
    const { transaction, tenant } = call;
    await this.results.store(call, id, results, rejections);
    const count = (action: LineResult['action']) =>
      results.filter((result) => result.action === action).length;
    const counts = {
      ...{ created: count('created'), updated: count('updated'), unchanged: count('unchanged') },
      rejected: rejections.length,
    };
    await transaction.query({
      text: `update lead_imports set position = $3, line = $4, created = created + $5::int,
          updated = updated + $6::int, unchanged = unchanged + $7::int, rejected = rejected + $8::int,
          processed = processed + $5 + $6 + $7 + $8, ${END_LEASE}, updated_at = ${NOW}
        where organization_id = $1 and id = $2`,
      values: [tenant.id, id, next.offset, next.line, ...Object.values(counts)],
    });
    await this.database.afterCommit(call, () => {
      this.monitor.carriedOut(counts);
    });
  }

  /**
   * Ends an import that has not ended, and removes its file.
   * @throws ApiError `create_failed`
   */
  async end(call: TenantCall, id: string, status: ImportEnd, error: string | null): Promise<void> {
    await this.endThose(call, status, error, 'and id = $4', id);
  }

  /**
   * Cancels the imports that have not ended and were begun by then, and removes their files.
   * @throws ApiError `create_failed`
   */
  async cancelBegunBefore(call: TenantCall, begunBy: Date, error: string): Promise<void> {
    await this.endThose(call, 'cancelled', error, 'and created_at <= $4', begunBy);
  }

  /**
   * Cancels the imports that have not ended, and removes all files, also those of running uploads, because files do not tell
   * which person they are about. It locks imports before leads, as a portion does.
   * @throws ApiError `create_failed`
   */
  async cancelAll(call: InTransaction, error: string): Promise<void> {
    const { transaction, tenant } = call;
    await this.lock(call);
    await this.endThose(call, 'cancelled', error);
    await transaction.query({
      text: 'delete from lead_import_chunks where organization_id = $1',
      values: [tenant.id],
    });
  }

  private async endThose(
    call: TenantCall,
    status: ImportEnd,
    error: string | null,
    condition = '',
    ...values: unknown[]
  ): Promise<void> {
    await this.database.transaction(call, async (inner) => {
      const ended = await inner.transaction.query<EndedImport>({
        text: endSql(condition),
        values: [call.tenant.id, status, error, ...values],
      });
      if (status === 'cancelled') {
        await this.audit.add(inner, ...ended.map(({ id }) => ['import.cancelled', id] as const));
      }
      await this.database.afterCommit(inner, () => {
        this.monitor.ended(call, ended);
      });
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
    await this.results.removeOf(call, IS_OLD);
    for (const text of [REMOVE_OLD, REMOVE_LOST]) {
      while ((await this.database.write(call, { text, values })).length > 0);
    }
  }
}
