import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type pg from 'pg';
import type { DataSource } from 'typeorm';
import { ADMINISTRATION } from '../connection/data-source-names.js';
import { BatchConnections } from '../gateway/batch-connections.js';

/** Numbers of connections to the database. */
interface Connections {
  /** Open and opening connections. */
  readonly total: number;
  /** Unused open connections. */
  readonly idle: number;
  /** Statements and transactions that wait for a connection. */
  readonly waiting: number;
}

/** The state of the database connections and of the schema, for monitoring. */
@Injectable()
export class DatabaseStatus {
  constructor(
    @InjectDataSource(ADMINISTRATION) private readonly administration: DataSource,
    private readonly batches: BatchConnections,
  ) {}

  /** All connections of this instance. A closed pool has none. */
  connections(): Connections {
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
   */
  async migrations(table = 'migrations'): Promise<string[]> {
    const rows = await this.administration.query<{ name: string }[]>(
      `select name from ${table} order by id`,
    );
    return rows.map(({ name }) => name);
  }
}
