import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { RecordRemoval } from './record-removal.js';
import { IdempotencyRepository } from '../idempotency.repository.js';
import { referencesTo, type TableReference } from './table-references.js';
import type { Tenant } from '../gateway/tenant.js';
import { TenantDatabase } from '../gateway/tenant-database.js';
import { repositoriesOf } from './tenant-repositories.js';

/** Numbers of records by their table. */
export type Counts = Readonly<Record<string, number>>;

/** Records that a purge removes in one transaction: few enough that it is over soon. */
const BATCH = 1_000;

/** `$2` is when a record was deleted at the latest. */
const PURGEABLE = 'organization_id = $1 and deleted_at < $2';

/** Lets one batch of an organization, `$1`, run at a time, whichever process it belongs to. */
const ONE_AT_A_TIME = `select pg_advisory_xact_lock(hashtextextended('purge ' || $1, 0))`;

/**
 * Removes for good what organizations deleted, in every table that has a `TenantRepository`, and what
 * refers to it as the foreign keys declare. Each batch is a transaction of its own, so that requests
 * are served meanwhile.
 */
@Injectable()
export class PurgeService {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly database: TenantDatabase,
    private readonly answers: IdempotencyRepository,
  ) {}

  /** The tables that a purge looks through. */
  get tables(): string[] {
    return Array.from(repositoriesOf(this.discovery), ({ tableName }) => tableName);
  }

  /**
   * The deleted records of an organization that a purge removes. Records that only refer to them are
   * not counted.
   * @param before when they were deleted at the latest
   * @throws ApiError `query_failed`
   */
  async count(tenant: Tenant, before: Date): Promise<Counts> {
    const counts: Record<string, number> = {};
    for (const { tableName, deletesSoftly } of repositoriesOf(this.discovery)) {
      counts[tableName] = deletesSoftly ? await this.countIn(tableName, tenant, before) : 0;
    }
    return counts;
  }

  /**
   * Removes the deleted records of an organization. It may run several times at once: it ends when
   * none is left, also where another purge fails.
   * @param before when they were deleted at the latest
   * @param advance told of every batch how many deleted records it removed
   * @returns how many records it removed itself, with those that refer to them
   * @throws ApiError `create_failed`, `internal_error`
   */
  async purge(
    tenant: Tenant,
    before: Date,
    advance: (records: number) => void = () => undefined,
  ): Promise<Counts> {
    const references = await referencesTo(this.database, tenant, this.tables);
    const total = Object.fromEntries(this.tables.map((table) => [table, 0]));
    for (const { tableName, deletesSoftly } of repositoriesOf(this.discovery)) {
      let found = deletesSoftly ? BATCH : 0;
      while (found === BATCH) {
        const removed = await this.purgeBatch(tableName, references, tenant, before);
        found = removed.found;
        for (const [table, count] of Object.entries(removed.counts)) {
          total[table] = (total[table] ?? 0) + count;
        }
        advance(found);
      }
    }
    return total;
  }

  private async countIn(table: string, tenant: Tenant, before: Date): Promise<number> {
    const [row] = await this.database.read<{ count: number }>(tenant, {
      text: `select count(*)::int as count from ${table} where ${PURGEABLE}`,
      values: [tenant.id, before],
    });
    return row?.count ?? 0;
  }

  private purgeBatch(
    table: string,
    references: readonly TableReference[],
    tenant: Tenant,
    before: Date,
  ): Promise<{ found: number; counts: Counts }> {
    return this.database.transaction(tenant, async (transaction, own) => {
      // A statement of its own, so that the next one sees what the batch before it has committed.
      await transaction.query({ text: ONE_AT_A_TIME, values: [tenant.id] });
      const found = await transaction.query<{ id: string }>({
        text: `select id from ${table} where ${PURGEABLE} limit ${BATCH} for update`,
        values: [tenant.id, before],
      });
      const removal = new RecordRemoval(transaction, own.id, references, this.tables);
      const ids = found.map(({ id }) => id);
      await removal.remove(table, ids);
      await this.answers.deleteForRecords(transaction, tenant, removal.removedIds);
      for (const id of removal.changedIds) this.database.publishChange(own, id);
      return { found: ids.length, counts: removal.counts };
    });
  }
}
