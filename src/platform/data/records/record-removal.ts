import { ApiError } from '../../errors/api-error.js';
import type { TableReference } from './table-references.js';
import type { InTransaction } from '../call.js';
import type { TenantRepository } from './tenant-repository.js';
import { NEXT_UPDATED_AT } from './record-sql.js';

/**
 * Removes records of an organization in a transaction, and applies the `on delete` actions of foreign
 * keys to the records that reference them. PostgreSQL would do the same, but it would neither report
 * the removed records nor update `updated_at` of changed ones.
 */
export class RecordRemoval {
  /** Number of removed records by table. */
  readonly counts: Record<string, number> = {};
  /** Ids of the removed records. */
  readonly removedIds: string[] = [];
  /** Ids of records that were visible until now and were removed or changed. */
  readonly changedIds: string[] = [];

  private readonly seen = new Set<string>();

  /**
   * @param tables tables whose records have an `id`; PostgreSQL handles the rows of other tables
   * @param repositories write the events of changed records of their tables
   */
  constructor(
    private readonly call: InTransaction,
    private readonly references: readonly TableReference[],
    private readonly tables: readonly string[],
    private readonly repositories: readonly TenantRepository<{ id: string }>[],
  ) {}

  /**
   * @throws ApiError `internal_error` if a foreign key prevents the removal
   * @throws ApiError `create_failed`
   */
  async remove(table: string, ids: readonly string[]): Promise<void> {
    const newIds = ids.filter((id) => !this.seen.has(id));
    if (newIds.length === 0) return;
    for (const id of newIds) this.seen.add(id);

    for (const reference of this.references) {
      if (reference.target !== table) continue;
      if (reference.onDelete === 'restrict') throw refusedBy(reference);
      if (!this.tables.includes(reference.table)) continue;
      const referring = await this.lockOrClear(reference, newIds);
      this.changedIds.push(...referring);
      if (reference.onDelete === 'cascade') await this.remove(reference.table, referring);
    }
    const removed = await this.query(
      `delete from ${table} where organization_id = $1 and id = any($2) returning id`,
      newIds,
    );
    this.counts[table] = (this.counts[table] ?? 0) + removed.length;
    this.removedIds.push(...removed);
  }

  /**
   * Locks the referencing records (cascade), or sets their reference to null.
   * @returns their ids
   */
  private async lockOrClear(reference: TableReference, ids: readonly string[]): Promise<string[]> {
    const { table, column, onDelete, hasUpdatedAt } = reference;
    const refersTo = `organization_id = $1 and ${column} = any($2)`;
    if (onDelete === 'cascade') {
      return this.query(`select id from ${table} where ${refersTo} for update`, ids);
    }
    const repository = this.repositories.find(({ table: { name } }) => name === table);
    const changed = await repository?.clearReference(this.call, column, ids);
    const setUpdatedAt = hasUpdatedAt ? `, updated_at = ${NEXT_UPDATED_AT}` : '';
    const others = await this.query(
      `update ${table} set ${column} = null${setUpdatedAt} where ${refersTo} returning id`,
      ids,
    );
    return [...(changed ?? []), ...others];
  }

  private async query(text: string, ids: readonly string[]): Promise<string[]> {
    const rows = await this.call.transaction.query<{ id: string }>({
      text,
      values: [this.call.tenant.id, ids],
    });
    return rows.map(({ id }) => id);
  }
}

function refusedBy({ table, column, target }: TableReference): ApiError {
  const message = `The foreign key of ${table}.${column} prevents the removal of records of ${target}: declare it "on delete cascade" or "on delete set null".`;
  return new ApiError('internal_error', { message });
}
