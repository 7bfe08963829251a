import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { Settings } from '../../config/settings.js';
import { planConnections } from '../connection/connection-plan.js';
import { BATCH_SESSION } from './tenant-context.js';
import { type Deadline, TimeBudget } from './time-budget.js';
import { destroyIdleConnection, ResilientClient } from '../connection/resilient-client.js';
import { setUpConnection } from '../connection/data-source-options.js';
import { SessionContext } from '../connection/session-context.js';
import { poolOf, reportLostConnections } from '../connection/driver-pool.js';

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
  private readonly pool: pg.Pool;
  /** The idle connections of this pool and that of the data source. */
  private readonly idle = new Set<pg.PoolClient>();

  constructor(
    @InjectDataSource() dataSource: DataSource,
    settings: Settings,
    context: SessionContext,
    timeBudget: TimeBudget,
  ) {
    const { batches } = planConnections(settings.databaseMaxConnections);
    const options = {
      ...poolOf(dataSource).options,
      Client: ResilientClient,
      idleTimeoutMillis: 0,
      ...(context.hasOwnSessions && {
        onConnect: setUpConnection(timeBudget.connectionMs, BATCH_SESSION),
      }),
    };
    this.pool = new pg.Pool({ ...options, max: batches });
    reportLostConnections(this.pool);
    for (const pool of [this.pool, poolOf(dataSource)]) {
      pool.on('release', (_error, client) => this.idle.add(client));
      pool.on('acquire', (client) => this.idle.delete(client));
      pool.on('remove', (client) => this.idle.delete(client));
    }
  }

  get state(): { total: number; idle: number; waiting: number } {
    const { totalCount, idleCount, waitingCount } = this.pool;
    return { total: totalCount, idle: idleCount, waiting: waitingCount };
  }

  /**
   * Runs work on a connection of its own.
   * @throws any error of the driver or of `work`
   */
  async use<T>(work: ConnectionWork<T>): Promise<T> {
    const client = await this.pool.connect();
    let cancelTimer = (): void => undefined;
    try {
      return await work(client, (deadline) => {
        cancelTimer = deadline.destroyWhenExceeded(client, this.closeIdle);
      });
    } finally {
      cancelTimer();
      client.release();
    }
  }

  /**
   * Closes all idle connections after one was lost, because a network failure usually affects all of them. A
   * connection that a firewall dropped reports no error.
   */
  readonly closeIdle = (): void => {
    for (const client of this.idle) destroyIdleConnection(client);
    this.idle.clear();
  };

  /** Runs after all services that could still send statements have stopped. */
  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }
}
