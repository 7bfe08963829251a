import { Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.js';
import type { InTransaction } from '../call.js';
import { TenantDatabase } from '../gateway/tenant-database.js';
import { ReferringRecords, type TableReference } from './referring-records.service.js';
import { TenantTables } from './tenant-tables.service.js';

/** Numbers of records by table. */
export type Counts = Readonly<Record<string, number>>;

/** What a removal has removed. */
export interface Removal {
  readonly counts: Record<string, number>;
  readonly ids: string[];
}

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
   * Deletes the rows about removed records, in tables with the option `about`.
   * @param erased records whose rows are emptied instead, in tables with the option `erased`
   */
  async removeAbout(
    call: InTransaction,
    removed: readonly string[],
    erased?: readonly string[],
  ): Promise<void> {
    for (const { name, about, erased: emptied } of this.tenantTables.all) {
      if (about === undefined) continue;
      const rows = `where organization_id = $1 and ${about} = any($2::uuid[])`;
      if (erased && emptied)
        await this.query(call, `update ${name} set ${emptied} ${rows}`, erased);
      else await this.query(call, `delete from ${name} ${rows}`, removed);
    }
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
