import { Injectable } from '@nestjs/common';
import { type Counts, RecordRemoval } from './record-removal.service.js';
import type { TenantCall } from '../call.js';
import { TenantDatabase } from '../gateway/tenant-database.js';
import { deletesSoftly } from './tenant-entity.js';
import { TenantTables } from './tenant-tables.service.js';

/** Records that one transaction removes. Small batches keep locks short. */
const BATCH = 1_000;

/** `$2`: only records deleted before this time. */
const PURGEABLE = 'organization_id = $1 and deleted_at < $2';

/** Serializes the batches of the organization `$1` over all processes. */
const ONE_AT_A_TIME = `select pg_advisory_xact_lock(hashtextextended('purge ' || $1, 0))`;

/**
 * Permanently removes deleted records of every table with records of organizations, and applies the
 * `on delete` actions of the foreign keys to referencing records. Each batch is one transaction, so
 * that requests are served meanwhile.
 */
@Injectable()
export class PurgeService {
  constructor(
    private readonly tenantTables: TenantTables,
    private readonly database: TenantDatabase,
    private readonly removal: RecordRemoval,
  ) {}

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
  async count(call: TenantCall, before: Date): Promise<Counts> {
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
   * Removes the deleted records of an organization. Several purges may run at once; each ends when no
   * record is left.
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
      const removed = await this.removal.remove(inner, table, ids);
      await this.removal.removeAbout(inner, removed.ids);
      return { found: ids.length, counts: removed.counts };
    });
  }
}
