import pg from 'pg';
import type { DataSource, DataSourceOptions } from 'typeorm';
import type { PostgresDriver } from 'typeorm/driver/postgres/PostgresDriver.js';

// All uses of the parts of TypeORM's PostgreSQL driver that are not public API.

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

/** Returns the pool of an initialized data source. */
export function poolOf(dataSource: DataSource): pg.Pool {
  return driverOf(dataSource).master as pg.Pool;
}

/** Acquires a connection of the pool. */
export function acquireClient(dataSource: DataSource): Promise<[pg.PoolClient, Release]> {
  return driverOf(dataSource).obtainMasterConnection() as Promise<[pg.PoolClient, Release]>;
}

/** Returns the option by which a data source uses a pool of this class. */
export function withPool(Pool: new () => DriverPool): Pick<DataSourceOptions, 'driver'> {
  return { driver: { ...pg, Pool } };
}

function driverOf(dataSource: DataSource): PostgresDriver {
  return dataSource.driver as PostgresDriver;
}
