import pg from 'pg';
import type { DataSourceOptions } from 'typeorm';
import { DEFAULT_CONNECTIONS } from '../../config/settings.js';
import { planConnections } from './connection-plan.js';
import * as migrations from '../migrations.js';
import { ApplicationClient } from './application-client.js';
import { withPool, type ResilientClient } from './driver-pool.js';
import { PostgresNames } from './postgres-names.js';
import { CONNECTION_SETTINGS, SessionContext } from './session-context.js';

/** The address of a PostgreSQL: a URL, or the socket of the embedded one. */
export type DatabaseTarget =
  | {
      readonly url: string;
      /** Whether a check at startup has found no pooler in transaction mode. */
      readonly isUnpooled?: boolean;
    }
  | {
      readonly host: string;
      readonly port: number;
      readonly user: string;
      readonly database: string;
    };

/** All migrations in the order of execution. */
export const MIGRATIONS = Object.values(migrations).sort(
  (one, other) => timestampOf(one) - timestampOf(other),
);

/**
 * Timeouts for a new connection, including its setup, and for a free connection of the pool: in a server, and in
 * commands and tests, which have no deadline.
 */
export const POOL_WAIT_MS = 2_000;
export const PATIENT_WAIT_MS = 60_000;

/** The end of the name of a migration. */
function timestampOf({ name }: { readonly name: string }): number {
  return Number(/\d+$/.exec(name)?.[0]);
}

type PostgresOptions = Extract<DataSourceOptions, { type: 'postgres' }>;

/**
 * PostgreSQL rolls back a statement if its client has closed the connection, so that a write that was answered
 * with an error is not committed later. PostgreSQL on Windows has no such setting.
 */
const CHECK_CLIENT = `select set_config('client_connection_check_interval', '100ms', false)
  where version() !~* 'windows|mingw|visual c'`;

/**
 * Returns the function that sets up new connections.
 * @param withinMs timeout for the connection, including its setup
 * @param settings additional settings of their sessions
 */
export function setUpConnection(withinMs: number, settings: Readonly<Record<string, string>> = {}) {
  const statements = Object.entries({ ...CONNECTION_SETTINGS, ...settings }).map(
    ([name, value]) => `set ${name} = '${value}'`,
  );
  const sql = [...statements, CHECK_CLIENT].join('; ');
  return (client: pg.ClientBase) => (client as ResilientClient).setUp(sql, withinMs);
}

/**
 * Options of all pools of connections. Their class is a `ResilientClient`.
 * @param waitMs timeout for a connection
 */
export function connectionOptions(waitMs: number) {
  return {
    connectionTimeoutMillis: waitMs,
    // Firewalls drop idle connections.
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
    onConnect: setUpConnection(waitMs),
  };
}

/**
 * The TypeORM options of the server, the command line and the tests.
 * @param sessionContext session context of every transaction; by default it is empty and statements
 *   run as the database user
 * @param applicationName name of the connections in the views of PostgreSQL
 * @param waitMs timeout for a connection
 */
export function dataSourceOptions(
  target: DatabaseTarget,
  sessionContext = new SessionContext(),
  applicationName = 'latitude',
  waitMs = PATIENT_WAIT_MS,
): PostgresOptions {
  const address = 'url' in target ? target : { ...target, username: target.user };
  return {
    type: 'postgres',
    ...address,
    applicationName,
    ...withPool(),
    namingStrategy: new PostgresNames(),
    migrations: MIGRATIONS,
    migrationsTransactionMode: 'each',
    installExtensions: false,
    synchronize: false,
    logging: false,
    poolSize: planConnections(DEFAULT_CONNECTIONS).pool,
    // `reportLostConnections` listens to the pool.
    poolErrorHandler: () => undefined,
    extra: { ...connectionOptions(waitMs), Client: ApplicationClient, sessionContext },
  };
}
