import { setTimeout as after } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type pg from 'pg';
import type { DataSource } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';
import { SharedLookups } from './shared-lookups.js';

/** The connections to the database at one moment. */
export interface PoolState {
  /** Open connections. */
  readonly total: number;
  /** Those of them that nothing uses. */
  readonly idle: number;
  /** Statements and transactions that wait for a connection. */
  readonly waiting: number;
}

/** How the database is doing, for those who watch this instance. */
@Injectable()
export class DatabaseStatus {
  private ping: Promise<boolean> | undefined;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly lookups: SharedLookups,
  ) {}

  /** Whether the database answers in time. */
  async answersWithin(ms: number): Promise<boolean> {
    // One ping at a time: while the database is silent, those who ask must not pile up.
    this.ping ??= this.sendPing().finally(() => (this.ping = undefined));
    const answered = new AbortController();
    const tooLate = after(ms, false, { signal: answered.signal });
    try {
      return await Promise.race([this.ping, tooLate]);
    } finally {
      answered.abort();
    }
  }

  pool(): PoolState {
    const driver = this.dataSource.driver as PostgresDriver;
    const { totalCount, idleCount, waitingCount } = driver.master as pg.Pool;
    return { total: totalCount, idle: idleCount, waiting: waitingCount };
  }

  /** The migrations that the schema has seen, in their order. */
  async migrations(): Promise<string[]> {
    const rows = await this.dataSource.query<{ name: string }[]>(
      'select name from migrations order by id',
    );
    return rows.map(({ name }) => name);
  }

  private async sendPing(): Promise<boolean> {
    try {
      await this.lookups.find({ name: 'ping', text: 'select 1', values: [] });
      return true;
    } catch {
      return false;
    }
  }
}
