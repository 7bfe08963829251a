import pg from 'pg';
import type { DataSource, DataSourceOptions } from 'typeorm';
import { logger } from '../../config/logger.js';

/** Releases a connection. An error, or `true`, closes it. */
export type Release = (error?: Error | boolean) => void;

/** Receives a connection of a pool, or the error that prevented it. */
export type ConnectCallback = (
  error: Error | undefined,
  client?: pg.PoolClient,
  release?: Release,
) => void;

/** The methods of a pool that TypeORM calls. */
export interface DriverPool {
  connect(callback: ConnectCallback): void;
  on(event: string, listener: unknown): void;
  end(done: () => void): void;
}

/** The pools that TypeORM has created, by the drivers whose class it used. */
const POOLS = new WeakMap<object, DriverPool>();

/** Returns the options of one data source that uses a pool of this class. */
export function withPool(
  Pool: new (config: pg.PoolConfig) => DriverPool,
): Pick<DataSourceOptions, 'driver'> {
  const driver = {
    ...pg,
    Pool: class extends Pool {
      constructor(config: pg.PoolConfig) {
        super(config);
        POOLS.set(driver, this);
      }
    },
  };
  return { driver };
}

/** Returns the pool of an initialized data source with a pool of pg. */
export function poolOf(dataSource: DataSource): pg.Pool {
  const pool = driverPoolOf(dataSource);
  if (pool instanceof pg.Pool) return pool;
  throw new Error('the data source has no pool of its own');
}

/** Acquires a connection of the pool. */
export function acquireClient(dataSource: DataSource): Promise<[pg.PoolClient, Release]> {
  return new Promise((resolve, reject) => {
    driverPoolOf(dataSource).connect((error, client, release) => {
      if (client && release) resolve([client, release]);
      else reject(error ?? new Error('the pool has no connection'));
    });
  });
}

function driverPoolOf({ options }: DataSource): DriverPool {
  const pool = POOLS.get(options.driver as object);
  if (!pool) throw new Error('the data source was not created with withPool()');
  return pool;
}

/** Logs the idle connections of a pool that are lost, until the pool ends. */
export function reportLostConnections(pool: pg.Pool): void {
  pool.on('error', ({ message }) => {
    if (!pool.ending) logger.warn({ reason: message }, 'a database connection was lost');
  });
}
