import pg from 'pg';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { logger } from '../../config/logger.js';
import { hasOpenTransaction } from './transaction-context.js';

/** The pools that TypeORM has created, by the drivers whose class it used. */
const POOLS = new WeakMap<object, pg.Pool>();

/** Returns the options of one data source, whose pool `poolOf` returns. */
export function withPool(): Pick<DataSourceOptions, 'driver'> {
  const driver = {
    ...pg,
    Pool: class extends pg.Pool {
      constructor(config: pg.PoolConfig) {
        super(config);
        POOLS.set(driver, this);
      }
    },
  };
  return { driver };
}

/** Returns the pool of an initialized data source. */
export function poolOf({ options }: DataSource): pg.Pool {
  const pool = POOLS.get(options.driver as object);
  if (!pool) throw new Error('the data source was not created with withPool()');
  return pool;
}

/**
 * Runs work on a connection of a pool.
 * @param limit starts a timer that destroys the connection, and returns a function that cancels it
 */
export async function withConnection<T>(
  pool: pg.Pool,
  limit: (client: pg.PoolClient) => () => void,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  const cancelTimer = limit(client);
  try {
    return await work(client);
  } finally {
    cancelTimer();
    client.release();
  }
}

/** Logs the idle connections of a pool that are lost, until the pool ends. */
export function reportLostConnections(pool: pg.Pool): void {
  pool.on('error', ({ message }) => {
    if (!pool.ending) logger.warn({ reason: message }, 'a database connection was lost');
  });
}

/** Closes connections that are released inside a transaction, whose settings would apply to the next user. */
export function closeUnfinishedTransactions(pool: pg.Pool): void {
  pool.on('release', (_: unknown, client: pg.PoolClient) => {
    // The pool removes a client that is ending.
    if (hasOpenTransaction(client)) void client.end();
  });
}
