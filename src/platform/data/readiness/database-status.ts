import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { DataSource } from 'typeorm';
import { poolOf } from '../connection/driver-pool.js';
import { BatchConnections } from '../gateway/batch-connections.js';
import { ADMINISTRATION } from '../connection/administration.js';

/** Numbers of connections to the database. */
interface Connections {
  /** Open and opening connections. */
  readonly total: number;
  /** Unused open connections. */
  readonly idle: number;
  /** Statements and transactions that wait for a connection. */
  readonly waiting: number;
}

/** The connections of the pool. */
export interface PoolState extends Connections {
  /** Maximum number of connections. */
  readonly max: number;
}

/** The state of the database connections and of the schema, for monitoring. */
@Injectable()
export class DatabaseStatus {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    @InjectDataSource(ADMINISTRATION) private readonly administration: DataSource,
    private readonly batches: BatchConnections,
  ) {}

  /** All connections of this instance. */
  connections(): Connections {
    const pool = this.pool();
    const batches = this.batches.state;
    return {
      total: pool.total + batches.total,
      idle: pool.idle + batches.idle,
      waiting: pool.waiting + batches.waiting,
    };
  }

  /** A closed pool has no connections. */
  pool(): PoolState {
    if (!this.dataSource.isInitialized) return { total: 0, max: 0, idle: 0, waiting: 0 };
    const { totalCount, idleCount, waitingCount, options } = poolOf(this.dataSource);
    return { total: totalCount, max: options.max, idle: idleCount, waiting: waitingCount };
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
