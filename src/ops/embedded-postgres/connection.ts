import type pg from 'pg';
import type { DatabaseTarget } from '../../platform/data/connection/data-source-options.js';
import { withConnection } from '../connection.js';
import { PORT } from './cluster.js';
import { errorCode } from './errors.js';

/** The address of the embedded PostgreSQL. The host is the directory of its socket. */
export type Connection = Extract<DatabaseTarget, { readonly host: string }>;

export function connectionThrough(socketDirectory: string): Connection {
  return { host: socketDirectory, port: PORT, user: 'postgres', database: 'latitude' };
}

/** A PostgreSQL that hangs must not delay the start for long. */
const OPTIONS = { query_timeout: 30_000 };

/** Creates the database on first use. Only the owner of the data directory does so. */
export async function ensureDatabase(connection: Connection): Promise<void> {
  const { database: name } = connection;
  const create = async (client: pg.Client) => {
    const found = await client.query('select from pg_database where datname = $1', [name]);
    if (found.rowCount !== 0) return;
    await client.query(`create database ${client.escapeIdentifier(name)}`);
  };
  await withConnection({ ...connection, database: 'postgres' }, create, OPTIONS);
}

/** @throws Error if this user may not use the socket */
export async function isAccepting(connection: Connection): Promise<boolean> {
  try {
    await withConnection(connection, (client) => client.query('select'), OPTIONS);
    return true;
  } catch (error) {
    if (errorCode(error) === 'EACCES') throw error;
    return false;
  }
}
