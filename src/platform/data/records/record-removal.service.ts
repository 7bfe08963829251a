import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.js';
import type { InTransaction } from '../call.js';
import { EVENTS_ABOUT_RECORDS } from '../events/events.repository.js';
import { TenantDatabase } from '../gateway/tenant-database.js';
import { RESPONSES_ABOUT_RECORDS } from '../idempotency.repository.js';
import { JOBS_ABOUT_RECORDS } from '../jobs/job-queue.repository.js';
import { ReferringRecords, type TableReference } from './referring-records.service.js';
import { TenantTables } from './tenant-tables.service.js';

/** Numbers of records by table. */
export type Counts = Readonly<Record<string, number>>;

/** What a removal has removed. */
export interface Removal {
  readonly counts: Record<string, number>;
  readonly ids: string[];
}

/** Rows of a table that are about records. */
interface RowsAboutRecords {
  readonly name: string;
  /** SQL condition of the rows about the records `$2`. */
  readonly rows: string;
  /** SQL of what is set in rows about an erased record. Without it, they are deleted. */
  readonly erased?: string;
}

const ABOUT_RECORDS: readonly RowsAboutRecords[] = [
  RESPONSES_ABOUT_RECORDS,
  JOBS_ABOUT_RECORDS,
  ...EVENTS_ABOUT_RECORDS,
];

/**
 * Removes records of an organization in a transaction, and applies the `on delete` actions of foreign
 * keys to the records that reference them. PostgreSQL would do the same, but it would neither report
 * the removed records nor update `updated_at` of changed ones.
 */
@Injectable()
export class RecordRemoval {
  constructor(
    private readonly tenantTables: TenantTables,
    private readonly referring: ReferringRecords,
    private readonly database: TenantDatabase,
  ) {}

  /**
   * @throws ApiError `internal_error` if a foreign key prevents the removal
   * @throws ApiError `create_failed`
   */
  async remove(call: InTransaction, table: string, ids: readonly string[]): Promise<Removal> {
    const removal: Removal = { counts: {}, ids: [] };
    const references = await this.referring.references(call);
    await this.removeFrom(call, table, ids, { references, seen: new Set(), removal });
    return removal;
  }

  /**
   * Deletes what other tables store about removed records: responses, jobs, events, and the rows of tables with the
   * option `about`.
   * @param erased records about which everything is emptied that can be emptied, and not deleted
   */
  async removeAbout(
    call: InTransaction,
    removed: readonly string[],
    erased?: readonly string[],
  ): Promise<void> {
    if (removed.length === 0 && !erased) return;
    for (const { name, rows, erased: emptied } of [...ABOUT_RECORDS, ...this.tablesAbout]) {
      const ofRecords = `where organization_id = $1 and ${rows}`;
      if (erased && emptied)
        await this.query(call, `update ${name} set ${emptied} ${ofRecords}`, erased);
      else await this.query(call, `delete from ${name} ${ofRecords}`, removed);
    }
  }

  private get tablesAbout(): RowsAboutRecords[] {
    return this.tenantTables.all.flatMap(({ name, about, erased }) =>
      about === undefined ? [] : [{ name, rows: `${about} = any($2::uuid[])`, erased }],
    );
  }

  private async removeFrom(
    call: InTransaction,
    table: string,
    ids: readonly string[],
    state: { references: readonly TableReference[]; seen: Set<string>; removal: Removal },
  ): Promise<void> {
    const { references, seen, removal } = state;
    const newIds = ids.filter((id) => !seen.has(id));
    if (newIds.length === 0) return;
    for (const id of newIds) seen.add(id);

    for (const reference of references.filter(({ target }) => target === table)) {
      if (reference.onDelete === 'restrict') throw refusedBy(reference);
      // PostgreSQL handles the rows of other tables.
      if (!this.tenantTables.has(reference.table)) continue;
      const referring = await this.lockOrClear(call, reference, newIds);
      for (const id of referring) this.database.publishChange(call, id);
      if (reference.onDelete === 'cascade')
        await this.removeFrom(call, reference.table, referring, state);
    }
    const removed = await this.query(
      call,
      `delete from ${table} where organization_id = $1 and id = any($2) returning id`,
      newIds,
    );
    removal.counts[table] = (removal.counts[table] ?? 0) + removed.length;
    removal.ids.push(...removed);
  }

  /**
   * Locks the referencing records (cascade), or sets their reference to null.
   * @returns their ids
   */
  private lockOrClear(
    call: InTransaction,
    reference: TableReference,
    ids: readonly string[],
  ): Promise<string[]> {
    if (reference.onDelete !== 'cascade') return this.referring.set(call, reference, ids, null);
    const { table, column } = reference;
    const refersTo = `organization_id = $1 and ${column} = any($2)`;
    return this.query(call, `select id from ${table} where ${refersTo} for update`, ids);
  }

  private async query(
    { transaction, tenant }: InTransaction,
    text: string,
    ids: readonly string[],
  ): Promise<string[]> {
    const rows = await transaction.query<{ id: string }>({ text, values: [tenant.id, ids] });
    return rows.map(({ id }) => id);
  }
}

function refusedBy({ table, column, target }: TableReference): ApiError {
  const message = `The foreign key of ${table}.${column} prevents the removal of records of ${target}: declare it "on delete cascade" or "on delete set null".`;
  return new ApiError('internal_error', { message });
}
