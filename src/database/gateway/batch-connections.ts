import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import pg from 'pg';
import type { DataSource } from 'typeorm';
import { Settings } from '../../config/settings.js';
import { planConnections } from '../connection/connection-plan.js';
import type { Deadline } from './time-budget.js';
import { destroyConnection, ResilientClient } from '../connection/resilient-client.js';
import { reportLostConnections } from '../connection/lost-connections.js';
import { poolOf } from '../connection/typeorm-internals.js';

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

  constructor(@InjectDataSource() dataSource: DataSource, settings: Settings) {
    this.pool = new pg.Pool({
      ...poolOf(dataSource).options,
      Client: ResilientClient,
      max: planConnections(settings.databaseMaxConnections).batches,
      idleTimeoutMillis: 0,
    });
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
   * Runs work on a connection.
   * @param work receives the connection, and a function that destroys the connection if it is in use
   *   after a deadline
   * @throws any error of the driver or of `work`
   */
  async use<T>(
    work: (client: pg.PoolClient, limitTo: (deadline: Deadline) => void) => Promise<T>,
  ): Promise<T> {
    const client = await this.pool.connect();
    let end = (): void => undefined;
    const limitTo = (deadline: Deadline) => {
      end = deadline.destroyWhenExceeded(client, this.closeIdle);
    };
    try {
      return await work(client, limitTo);
    } finally {
      end();
      client.release();
    }
  }

  /**
   * Closes all idle connections after one was lost, because a network failure usually affects all of them. A
   * connection that a firewall dropped reports no error.
   */
  readonly closeIdle = (): void => {
    for (const client of this.idle) destroyConnection(client);
  };

  /** Runs after all services that could still send statements have stopped. */
  async onApplicationShutdown(): Promise<void> {
    await this.pool.end();
  }
}
