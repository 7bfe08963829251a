import { Inject, Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.js';
import type { InTransaction, TenantCall } from '../call.js';
import { TenantDatabase } from '../gateway/tenant-database.js';
import { ReferringRecords, type TableReference } from './referring-records.service.js';
import { deletesSoftly } from './tenant-entity.js';
import { TenantTables } from './tenant-tables.service.js';

/** Numbers of records by table. */
export type Counts = Readonly<Record<string, number>>;

/** What a removal has removed. */
interface Removal {
  readonly counts: Record<string, number>;
  readonly ids: string[];
}

/** The records that an erasure concerns. */
interface ErasedRecords {
  /** The table of the records to remove. */
  readonly table: string;
  readonly ids: readonly string[];
  /** Records of other tables that stay, whose earlier values are erased. */
  readonly changedIds: readonly string[];
}

/** Rows of a table without an entity that are about records. */
export interface RowsAboutRecords {
  readonly name: string;
  /** SQL condition of the rows about the records `$2`. */
  readonly rows: string;
  /** SQL of what is set in rows about an erased record. Without it, they are deleted. */
  readonly erased?: string;
}

/** Injection token of the `RowsAboutRecords` that the parts of the application declare, in the order of their removal. */
export const ROWS_ABOUT_RECORDS = Symbol('rows about records');

/** Records that one transaction removes. Small batches keep locks short. */
const BATCH = 1_000;

/** `$2`: only records deleted before this time. */
const PURGEABLE = 'organization_id = $1 and deleted_at < $2';

/** Serializes the batches of the organization `$1` over all processes. */
const ONE_AT_A_TIME = `select pg_advisory_xact_lock(hashtextextended('purge ' || $1, 0))`;

/** SQL of the lock of erasures of an organization, which writers of copies of records share. */
export function erasureLockSql(organization: string, mode: '' | '_shared'): string {
  return `pg_advisory_xact_lock${mode}(hashtextextended('erasure ' || ${organization}::uuid, 0))`;
}

/**
 * Removes records of an organization, and what is stored about them elsewhere: deleted records (a purge), and those of a
 * person (an erasure). It applies the `on delete` actions of foreign keys to the records that reference them: PostgreSQL
 * would do the same, but it would neither report the removed records nor update `updated_at` of changed ones.
 */
@Injectable()
export class RecordRemoval {
  constructor(
    private readonly tenantTables: TenantTables,
    private readonly referring: ReferringRecords,
    private readonly database: TenantDatabase,
    @Inject(ROWS_ABOUT_RECORDS) private readonly rowsAbout: readonly RowsAboutRecords[],
  ) {}

  /**
   * Removes records and those that cannot exist without them.
   * @throws ApiError `internal_error` if a foreign key prevents the removal
   * @throws ApiError `create_failed`
   */
  private async remove(
    call: InTransaction,
    table: string,
    ids: readonly string[],
  ): Promise<Removal> {
    const references = await this.referring.references(call);
    const removal: Removal = { counts: {}, ids: [] };
    const seen = new Set<string>();
    const removeFrom = async (name: string, found: readonly string[]) => {
      const newIds = found.filter((id) => !seen.has(id));
      if (newIds.length === 0) return;
      for (const id of newIds) seen.add(id);
      for (const reference of references.filter(({ target }) => target === name)) {
        if (reference.onDelete === 'restrict') throw refusedBy(reference);
        // PostgreSQL handles the rows of other tables.
        if (!this.tenantTables.has(reference.table)) continue;
        const isCascade = reference.onDelete === 'cascade';
        const referring = isCascade
          ? await this.query(call, lockSql(reference), newIds)
          : await this.referring.set(call, reference, newIds, null);
        for (const id of referring) this.database.publishChange(call, id);
        if (isCascade) await removeFrom(reference.table, referring);
      }
      const text = `delete from ${name} where organization_id = $1 and id = any($2) returning id`;
      const removed = await this.query(call, text, newIds);
      removal.counts[name] = (removal.counts[name] ?? 0) + removed.length;
      removal.ids.push(...removed);
    };
    await removeFrom(table, ids);
    return removal;
  }

  /**
   * Deletes what other tables store about removed records: the declared rows, and those of tables with the option `about`.
   * @param erased records about which everything is emptied that can be emptied, and not deleted
   */
  private async removeAbout(
    call: InTransaction,
    removed: readonly string[],
    erased?: readonly string[],
  ): Promise<void> {
    if (removed.length === 0 && !erased) return;
    for (const { name, rows, erased: emptied } of [...this.rowsAbout, ...this.tablesAbout]) {
      const ofRecords = `where organization_id = $1 and ${rows}`;
      if (erased && emptied)
        await this.query(call, `update ${name} set ${emptied} ${ofRecords}`, erased);
      else await this.query(call, `delete from ${name} ${ofRecords}`, removed);
    }
  }

  /** The tables that a purge covers. */
  get tables(): string[] {
    return this.tenantTables.all.map(({ name }) => name);
  }

  /**
   * Counts the deleted records of an organization that a purge would remove, without those that
   * reference them.
   * @param before only records deleted before this time
   * @throws ApiError `query_failed`
   */
  async countPurgeable(call: TenantCall, before: Date): Promise<Counts> {
    const counts: Record<string, number> = {};
    const values = [call.tenant.id, before];
    for (const table of this.tenantTables.all) {
      const text = `select count(*)::int as count from ${table.name} where ${PURGEABLE}`;
      const isPurged = deletesSoftly(table);
      const [row] = isPurged ? await this.database.read<Counts>(call, { text, values }) : [];
      counts[table.name] = row?.count ?? 0;
    }
    return counts;
  }

  /**
   * Removes the deleted records of an organization, of every table. Each batch is one transaction, so that requests are
   * served meanwhile. Several purges may run at once; each ends when no record is left.
   * @param before only records deleted before this time
   * @param advance called after each batch with the number of deleted records in it
   * @returns the number of records that this call removed, including those that reference them
   * @throws ApiError `create_failed`, `internal_error`
   */
  async purge(
    call: TenantCall,
    before: Date,
    advance: (records: number) => void = () => undefined,
  ): Promise<Counts> {
    const total = Object.fromEntries(this.tables.map((table) => [table, 0]));
    for (const { name } of this.tenantTables.all.filter(deletesSoftly)) {
      let found = BATCH;
      while (found === BATCH) {
        const removed = await this.purgeBatch(name, call, before);
        found = removed.found;
        for (const [table, count] of Object.entries(removed.counts)) {
          total[table] = (total[table] ?? 0) + count;
        }
        advance(found);
      }
    }
    return total;
  }

  private purgeBatch(table: string, call: TenantCall, before: Date) {
    return this.database.transaction(call, async (inner) => {
      const { transaction } = inner;
      // A separate statement, so that the next one sees what the previous batch has committed.
      await transaction.query({ text: ONE_AT_A_TIME, values: [call.tenant.id] });
      const found = await transaction.query<{ id: string }>({
        text: `select id from ${table} where ${PURGEABLE} limit ${BATCH} for update`,
        values: [call.tenant.id, before],
      });
      const ids = found.map(({ id }) => id);
      const removed = await this.remove(inner, table, ids);
      await this.removeAbout(inner, removed.ids);
      return { found: ids.length, counts: removed.counts };
    });
  }

  /**
   * Removes records and those that cannot exist without them. Their events keep only the id of the record, stored
   * responses become 404, and rows about them, such as deliveries, are emptied or removed.
   * @returns the ids of all records of which copies were erased
   * @throws ApiError `create_failed`, `internal_error`
   */
  async erase(call: InTransaction, { table, ids, changedIds }: ErasedRecords): Promise<string[]> {
    const removal = await this.remove(call, table, ids);
    const removed = [...new Set([...ids, ...removal.ids])];
    const all = [...new Set([...removed, ...changedIds])];
    await this.query(call, `select ${erasureLockSql('$1', '')}`);
    await this.removeAbout(call, removed, all);
    await this.removeEmptyCounts(call);
    return all;
  }

  /**
   * Empties what other tables store about the values of records that stay.
   * @throws ApiError `create_failed`
   */
  eraseCopies(call: InTransaction, ids: readonly string[]): Promise<void> {
    return this.removeAbout(call, [], ids);
  }

  /**
   * Removes the counts of values that no record has. Such a value can be free text about a person. The rows are locked
   * before their sums are read, so that no concurrent change is lost.
   */
  private async removeEmptyCounts(call: InTransaction): Promise<void> {
    const counts = `record_counts where organization_id = $1 and filter <> ''`;
    const empty = `(resource, filter, value) in (select resource, filter, value from ${counts}
      group by 1, 2, 3 having sum(records) = 0)`;
    const order = 'order by resource, filter, value, shard';
    await this.query(call, `select from ${counts} and ${empty} ${order} for update`);
    await this.query(call, `delete from ${counts} and ${empty}`);
  }

  private get tablesAbout(): RowsAboutRecords[] {
    return this.tenantTables.all.flatMap(({ name, about, erased }) =>
      about === undefined ? [] : [{ name, rows: `${about} = any($2::uuid[])`, erased }],
    );
  }

  /** @param values of the parameters after `$1`, which is the organization */
  private async query(
    { transaction, tenant }: InTransaction,
    text: string,
    ...values: readonly unknown[]
  ): Promise<string[]> {
    const rows = await transaction.query<{ id: string }>({ text, values: [tenant.id, ...values] });
    return rows.map(({ id }) => id);
  }
}

/** Locks the records that refer to the ids `$2`. */
function lockSql({ table, column }: TableReference): string {
  return `select id from ${table} where organization_id = $1 and ${column} = any($2) order by id for update`;
}

function refusedBy({ table, column, target }: TableReference): ApiError {
  const message = `The foreign key of ${table}.${column} prevents the removal of records of ${target}: declare it "on delete cascade" or "on delete set null".`;
  return new ApiError('internal_error', { message });
}
