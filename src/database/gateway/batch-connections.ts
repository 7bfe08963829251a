import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { Settings } from '../../config/settings.js';
import { planConnections } from '../connection/connection-plan.js';
import { BATCH_SESSION } from './tenant-context.js';
import type { Deadline } from './time-budget.js';
import { destroyIdleConnection, ResilientClient } from '../connection/resilient-client.js';
import { reportLostConnections } from '../connection/lost-connections.js';
import { setUpConnection } from '../connection/data-source-options.js';
import { SessionContext } from '../connection/session-context.js';
import { poolOf } from '../connection/typeorm-internals.js';

/**
 * Maximum number of connections that concurrent reads share. With more, PostgreSQL switches more often between
 * processes.
 */
const MAX_SHARED = 4;

/** Work on a connection. `limitTo` destroys the connection if it is in use after a deadline. */
export type ConnectionWork<T> = (
  client: pg.PoolClient,
  limitTo: (deadline: Deadline) => void,
) => Promise<T>;

/** A connection on which several reads are under way. */
interface SharedConnection {
  readonly client: Promise<pg.PoolClient>;
  running: number;
}

/**
 * The connections of statements that read or write a few rows by an index. Transactions and slow statements
 * use the pool of the data source, so that they do not delay these statements. Statements run as the database
 * user unless they set a role.
 */
@Injectable()
export class BatchConnections implements OnApplicationShutdown {
  /** Connections of one caller at a time. */
  private readonly pool: pg.Pool;
  /** Connections of several reads at a time. */
  private readonly sharedPool: pg.Pool;
  private readonly shared = new Set<SharedConnection>();
  /** The idle connections of these pools and that of the data source. */
  private readonly idle = new Set<pg.PoolClient>();

  constructor(
    @InjectDataSource() dataSource: DataSource,
    settings: Settings,
    context: SessionContext,
  ) {
    const { batches } = planConnections(settings.databaseMaxConnections);
    const shared = Math.min(MAX_SHARED, Math.floor(batches / 2));
    const options = {
      ...poolOf(dataSource).options,
      Client: ResilientClient,
      idleTimeoutMillis: 0,
      ...(context.hasOwnSessions && { onConnect: setUpConnection(BATCH_SESSION) }),
    };
    this.pool = new pg.Pool({ ...options, max: batches - shared });
    this.sharedPool = new pg.Pool({ ...options, max: shared, pipeline: true });
    for (const pool of [this.pool, this.sharedPool]) reportLostConnections(pool);
    for (const pool of [this.pool, this.sharedPool, poolOf(dataSource)]) {
      pool.on('release', (_error, client) => this.idle.add(client));
      pool.on('acquire', (client) => this.idle.delete(client));
      pool.on('remove', (client) => this.idle.delete(client));
    }
  }

  get state(): { total: number; idle: number; waiting: number } {
    const pools = [this.pool, this.sharedPool];
    const sum = (count: (pool: pg.Pool) => number) => pools.reduce((n, pool) => n + count(pool), 0);
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
   * Runs a read of a few rows on a connection that other reads share. A read can wait for the earlier reads of
   * its connection, and is lost with the connection.
   * @throws any error of the driver or of `work`
   */
  async share<T>(work: ConnectionWork<T>): Promise<T> {
    const connection = this.selectShared();
    connection.running++;
    try {
      return await this.runOn(await connection.client, work);
    } catch (error) {
      // The connection may be lost.
      this.shared.delete(connection);
      throw error;
    } finally {
      connection.running--;
      if (connection.running === 0) this.releaseShared(connection);
    }
  }

  /** Returns the connection with the fewest reads. */
  private selectShared(): SharedConnection {
    if (this.shared.size < this.sharedPool.options.max) {
      const connection = { client: this.sharedPool.connect(), running: 0 };
      this.shared.add(connection);
      return connection;
    }
    return [...this.shared].reduce((fewest, other) =>
      other.running < fewest.running ? other : fewest,
    );
  }

  private releaseShared(connection: SharedConnection): void {
    this.shared.delete(connection);
    connection.client.then(
      (client) => {
        client.release();
      },
      () => undefined,
    );
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
   * connection that a firewall dropped reports no error. Further reads share new connections.
   */
  readonly closeIdle = (): void => {
    for (const client of this.idle) destroyIdleConnection(client);
    this.idle.clear();
    this.shared.clear();
  };

  /** Runs after all services that could still send statements have stopped. */
  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.pool.end(), this.sharedPool.end()]);
  }
}
