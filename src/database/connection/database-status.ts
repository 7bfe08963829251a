import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type pg from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { pipelinedConnections } from '../gateway/lanes.js';
import { ADMINISTRATION } from './administration.js';

/** Connections to the database at one moment. */
interface Connections {
  /** Open ones, and those that are being opened. */
  readonly total: number;
  /** Open ones that nothing uses. */
  readonly idle: number;
  /** Statements and transactions that wait for a connection. */
  readonly waiting: number;
}

/** The connections of the pool. */
export interface PoolState extends Connections {
  /** The most that may be open. */
  readonly most: number;
}

/** How the database is doing, for those who watch this instance. */
@Injectable()
export class DatabaseStatus {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    @InjectDataSource(ADMINISTRATION) private readonly administration: DataSource,
  ) {}

  /** Every connection of this instance. */
  connections(): Connections {
    const { total, idle, waiting } = this.pool();
    const pipelined = pipelinedConnections(this.dataSource);
    return { total: total + pipelined.total, idle: idle + pipelined.idle, waiting };
  }

  pool(): PoolState {
    const driver = this.dataSource.driver as PostgresDriver;
    const { totalCount, idleCount, waitingCount, options } = driver.master as pg.Pool;
    return { total: totalCount, most: options.max, idle: idleCount, waiting: waitingCount };
  }

  /** The migrations that the schema has seen, in their order. */
  async migrations(): Promise<string[]> {
    const rows = await this.administration.query<{ name: string }[]>(
      'select name from migrations order by id',
    );
    return rows.map(({ name }) => name);
  }
}
