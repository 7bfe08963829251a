import { Injectable } from '@nestjs/common';
import type pg from 'pg';
import { BatchConnections } from '../gateway/batch-connections.js';
import { SharedLookups } from '../gateway/shared-lookups.js';

/** The state of the database connections and of the schema, for monitoring. */
@Injectable()
export class DatabaseStatus {
  constructor(
    private readonly lookups: SharedLookups,
    private readonly batches: BatchConnections,
  ) {}

  /**
   * The numbers of connections of this instance: open and opening ones, unused open ones, and the statements and
   * transactions that wait for one. A closed pool has none.
   */
  connections() {
    const sum = (count: (pool: pg.Pool) => number) =>
      this.batches.pools.reduce((total, pool) => total + count(pool), 0);
    return {
      total: sum(({ totalCount }) => totalCount),
      idle: sum(({ idleCount }) => idleCount),
      waiting: sum(({ waitingCount }) => waitingCount),
    };
  }

  /**
   * The names of the executed migrations in their order.
   * @param table the table that records them; by default that of Latitude itself
   * @throws ApiError `query_failed`
   */
  async migrations(table = 'migrations'): Promise<string[]> {
    const text = `select name from ${table} order by id`;
    const rows = await this.lookups.find<{ name: string }>(`names in ${table}`, text, []);
    return rows.map(({ name }) => name);
  }
}
