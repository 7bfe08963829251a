import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { Settings } from '../../config/settings.js';
import { planConnections } from '../connection/connection-plan.js';
import { SharedConnections } from './shared-connections.js';
import { BATCH_SESSION } from './tenant-context.js';
import type { Deadline } from './time-budget.js';
import { destroyIdleConnection, ResilientClient } from '../connection/resilient-client.js';
import { reportLostConnections } from '../connection/lost-connections.js';
import { setUpConnection } from '../connection/data-source-options.js';
import { SessionContext } from '../connection/session-context.js';
import { poolOf } from '../connection/typeorm-internals.js';

/**
 * How many reads share a connection before a further one is used. The more of them wait on a connection, the
 * less often PostgreSQL and the server switch between processes.
 */
const READS_PER_CONNECTION = 16;

/** Work on a connection. `limitTo` destroys the connection if it is in use after a deadline. */
export type ConnectionWork<T> = (
  client: pg.PoolClient,
  limitTo: (deadline: Deadline) => void,
) => Promise<T>;

/**
 * The connections of statements that read or write a few rows by an index. Transactions and slow statements
 * use the pool of the data source, so that they do not delay these statements. Statements run as the database
 * user unless they set a role.
 */
@Injectable()
export class BatchConnections implements OnApplicationShutdown {
  /** Connections of one caller at a time. */
  private readonly pool: pg.Pool;
  /** Connections of several reads, and of several writes, at a time. */
  private readonly reads: SharedConnections;
  private readonly writes: SharedConnections;
  private readonly pools: readonly pg.Pool[];
  /** The idle connections of these pools and that of the data source. */
  private readonly idle = new Set<pg.PoolClient>();

  constructor(
    @InjectDataSource() dataSource: DataSource,
    settings: Settings,
    context: SessionContext,
  ) {
    const plan = planConnections(settings.databaseMaxConnections);
    const options = {
      ...poolOf(dataSource).options,
      Client: ResilientClient,
      idleTimeoutMillis: 0,
      ...(context.hasOwnSessions && { onConnect: setUpConnection(BATCH_SESSION) }),
    };
    this.pool = new pg.Pool({ ...options, max: plan.single });
    const reads = new pg.Pool({ ...options, max: plan.sharedReads, pipeline: true });
    const writes = new pg.Pool({ ...options, max: plan.sharedWrites, pipeline: true });
    this.reads = new SharedConnections(reads, READS_PER_CONNECTION);
    // Writes wait for the commit, so that they use all connections.
    this.writes = new SharedConnections(writes, 1);
    this.pools = [this.pool, reads, writes];
    for (const pool of this.pools) reportLostConnections(pool);
    for (const pool of [...this.pools, poolOf(dataSource)]) {
      pool.on('release', (_error, client) => this.idle.add(client));
      pool.on('acquire', (client) => this.idle.delete(client));
      pool.on('remove', (client) => this.idle.delete(client));
    }
  }

  get state(): { total: number; idle: number; waiting: number } {
    const sum = (count: (pool: pg.Pool) => number) =>
      this.pools.reduce((n, pool) => n + count(pool), 0);
    return {
      total: sum((pool) => pool.totalCount),
      idle: sum((pool) => pool.idleCount),
      waiting: sum((pool) => pool.waitingCount),
    };
  }

  /**
   * Runs work on a connection of its own.
   * @throws any error of the driver or of `work`
   */
  async use<T>(work: ConnectionWork<T>): Promise<T> {
    const client = await this.pool.connect();
    try {
      return await this.runOn(client, work);
    } finally {
      client.release();
    }
  }

  /**
   * Runs a batch on a connection that other batches of its kind share. It can wait for the earlier ones of its
   * connection, and is lost with the connection.
   * @throws any error of the driver or of `work`
   */
  share<T>(kind: 'read' | 'write', work: ConnectionWork<T>): Promise<T> {
    const connections = kind === 'read' ? this.reads : this.writes;
    return connections.run((client) => this.runOn(client, work));
  }

  private async runOn<T>(client: pg.PoolClient, work: ConnectionWork<T>): Promise<T> {
    let end = (): void => undefined;
    try {
      return await work(client, (deadline) => {
        end = deadline.destroyWhenExceeded(client, this.closeIdle);
      });
    } finally {
      end();
    }
  }

  /**
   * Closes all idle connections after one was lost, because a network failure usually affects all of them. A
   * connection that a firewall dropped reports no error. Further batches share new connections.
   */
  readonly closeIdle = (): void => {
    for (const client of this.idle) destroyIdleConnection(client);
    this.idle.clear();
    this.reads.renew();
    this.writes.renew();
  };

  /** Runs after all services that could still send statements have stopped. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.pools.map((pool) => pool.end()));
  }
}
