import pg from 'pg';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { logger } from '../../config/logger.js';
import { TimeoutError, withTimeout } from '../../config/timeout.js';
import { POOL_TIMEOUT } from './driver-error.js';
import { destroyAfter, destroyConnection, hasOpenTransaction } from './resilient-client.js';
import { type PipelineStatement, sendStatements } from './statement-pipeline.js';

/**
 * Work on a connection. `limitTo` destroys the connection if it is in use after this time, and calls a function
 * then, by default `onSilence` of the pool.
 */
export type ConnectionWork<T> = (
  client: pg.PoolClient,
  limitTo: (ms: number, onDestroy?: () => void) => void,
) => Promise<T>;

/** A pool of `ResilientClient`s. */
export class ConnectionPool extends pg.Pool {
  /** Called when a connection was destroyed because it did not respond in time. */
  onSilence: () => void = () => undefined;
  private readonly idle = new Set<pg.PoolClient>();

  constructor(config: pg.PoolConfig) {
    super(config);
    this.on('release', (_error, client) => {
      // The settings of the open transaction would apply to the next user. The pool removes a client that is ending.
      if (hasOpenTransaction(client)) void client.end();
      this.idle.add(client);
    });
    this.on('acquire', (client) => this.idle.delete(client));
    this.on('remove', (client) => this.idle.delete(client));
  }

  /**
   * Runs work on a connection of its own.
   * @param withinMs how long it may wait for the connection, in addition to the timeout of the pool
   */
  async use<T>(work: ConnectionWork<T>, withinMs = Infinity): Promise<T> {
    const connecting = this.connect();
    const client = await connectedWithin(connecting, withinMs, (late) => {
      late.release();
    });
    let cancelTimer = (): void => undefined;
    try {
      return await work(client, (ms, onDestroy = this.onSilence) => {
        cancelTimer = destroyAfter(ms, client, onDestroy);
      });
    } finally {
      cancelTimer();
      client.release();
    }
  }

  /**
   * Sends statements on a connection of its own, under one Sync.
   * @param limit has the time after which the connection is destroyed
   * @param statements called when a connection is free
   * @param withinMs as of `use`
   * @returns the rows of each statement
   * @throws LostConnectionError, any error of the driver
   */
  send<Row>(
    limit: { readonly connectionMs: number },
    statements: () => readonly PipelineStatement[],
    withinMs?: number,
  ): Promise<Row[][]> {
    return this.use((client, limitTo) => {
      limitTo(limit.connectionMs);
      return sendStatements<Row>(client, statements());
    }, withinMs);
  }

  closeIdle(): void {
    for (const client of this.idle) {
      destroyConnection(client);
      // The error makes the pool remove the connection at once.
      client.emit('error', new Error('closed by Latitude, because another connection was lost'));
    }
    this.idle.clear();
  }

  /** Logs the idle connections that are lost, until the pool ends. */
  reportLostConnections(): this {
    return this.on('error', ({ message }) => {
      if (!this.ending) logger.warn({ reason: message }, 'a database connection was lost');
    });
  }
}

/**
 * Waits for a connection of a pool.
 * @param release gives back a connection that comes too late
 * @throws Error as a pool without a free connection
 */
export async function connectedWithin<C>(
  connecting: Promise<C>,
  ms: number,
  release: (late: C) => unknown,
): Promise<C> {
  if (ms === Infinity) return connecting;
  try {
    return await withTimeout(connecting, ms);
  } catch (error) {
    if (!(error instanceof TimeoutError)) throw error;
    connecting.then(release, () => undefined);
    throw new Error(POOL_TIMEOUT, { cause: error });
  }
}

/** The pools that TypeORM has created, by the drivers whose class it used. They report lost connections. */
const POOLS = new WeakMap<object, ConnectionPool>();

/** Returns the options of one data source, whose pool `poolOf` returns. */
export function withPool(): Pick<DataSourceOptions, 'driver'> {
  const driver = {
    ...pg,
    Pool: class extends ConnectionPool {
      constructor(config: pg.PoolConfig) {
        super(config);
        POOLS.set(driver, this.reportLostConnections());
      }
    },
  };
  return { driver };
}

/** Returns the pool of an initialized data source. */
export function poolOf({ options }: DataSource): ConnectionPool {
  const pool = POOLS.get(options.driver as object);
  if (!pool) throw new Error('the data source was not created with withPool()');
  return pool;
}
