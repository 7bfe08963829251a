import { ApiError } from '../../errors/api-error.js';
import type { TableReference } from './table-references.js';
import type { TenantTransaction } from '../gateway/tenant.js';
import { NEXT_UPDATED_AT } from './tenant-repository.js';

/**
 * Removes records of an organization within a transaction, and what refers to them as the foreign keys
 * declare. PostgreSQL would do that by itself, but would tell neither which records it removed nor
 * move `updated_at` of those that it changed.
 */
export class RecordRemoval {
  /** How many records were removed, by their table. */
  readonly counts: Record<string, number> = {};
  /** The records that were removed. */
  readonly removedIds: string[] = [];
  /** The records that others could see until now, and that were removed or changed. */
  readonly changedIds: string[] = [];

  private readonly seen = new Set<string>();

  /** @param tables those whose records have an `id`; the rows of others are left to their foreign keys */
  constructor(
    private readonly transaction: TenantTransaction,
    private readonly organizationId: string,
    private readonly references: readonly TableReference[],
    private readonly tables: readonly string[],
  ) {}

  /**
   * @throws ApiError `internal_error` for a foreign key that refuses the removal
   * @throws ApiError `create_failed`
   */
  async remove(table: string, ids: readonly string[]): Promise<void> {
    const mine = ids.filter((id) => !this.seen.has(id));
    if (mine.length === 0) return;
    for (const id of mine) this.seen.add(id);

    for (const reference of this.references) {
      if (reference.target !== table) continue;
      if (reference.onDelete === 'restrict') throw refusedBy(reference);
      if (!this.tables.includes(reference.table)) continue;
      const referring = await this.referring(reference, mine);
      this.changedIds.push(...referring);
      if (reference.onDelete === 'cascade') await this.remove(reference.table, referring);
    }
    const removed = await this.query(
      `delete from ${table} where organization_id = $1 and id = any($2) returning id`,
      mine,
    );
    this.counts[table] = (this.counts[table] ?? 0) + removed.length;
    this.removedIds.push(...removed);
  }

  /** Locks the records that refer to others and are to go with them, or frees them of the others. */
  private referring(reference: TableReference, ids: readonly string[]): Promise<string[]> {
    const { table, column, onDelete, isDated } = reference;
    const refersTo = `organization_id = $1 and ${column} = any($2)`;
    if (onDelete === 'cascade') {
      return this.query(`select id from ${table} where ${refersTo} for update`, ids);
    }
    const dated = isDated ? `, updated_at = ${NEXT_UPDATED_AT}` : '';
    return this.query(
      `update ${table} set ${column} = null${dated} where ${refersTo} returning id`,
      ids,
    );
  }

  private async query(text: string, ids: readonly string[]): Promise<string[]> {
    const rows = await this.transaction.query<{ id: string }>({
      text,
      values: [this.organizationId, ids],
    });
    return rows.map(({ id }) => id);
  }
}

function refusedBy({ table, column, target }: TableReference): ApiError {
  const message = `The foreign key of ${table}.${column} lets no record of ${target} be removed: declare it "on delete cascade" or "on delete set null".`;
  return new ApiError('internal_error', { message });
}
