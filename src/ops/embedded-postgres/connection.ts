import { Client, type ClientConfig } from 'pg';
import { PORT } from './cluster.js';
import { errorCode } from './errors.js';

/** The address of the embedded PostgreSQL. The host is the directory of its socket. */
export interface Connection {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
}

export function connectionThrough(socketDirectory: string): Connection {
  return { host: socketDirectory, port: PORT, user: 'postgres', database: 'latitude' };
}

/** Creates the database on first use. Only the owner of the data directory does so. */
export async function ensureDatabase(connection: Connection): Promise<void> {
  await withClient({ ...connection, database: 'postgres' }, async (client) => {
    const name = connection.database;
    const found = await client.query('select from pg_database where datname = $1', [name]);
    if (found.rowCount !== 0) return;
    await client.query(`create database ${client.escapeIdentifier(name)}`);
  });
}

/** @throws Error if this user may not use the socket */
export async function isAccepting(connection: Connection): Promise<boolean> {
  try {
    await withClient(connection, (client) => client.query('select'));
    return true;
  } catch (error) {
    if (errorCode(error) === 'EACCES') throw error;
    return false;
  }
}

async function withClient<T>(
  config: ClientConfig,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  // `ssl` is set because PGSSLMODE may be meant for another server.
  const client = new Client({
    ...config,
    ssl: false,
    connectionTimeoutMillis: 10_000,
    query_timeout: 30_000,
  });
  // A lost connection also fails the running query, which reports the error.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end();
  }
}
