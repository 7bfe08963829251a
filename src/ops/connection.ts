import type pg from 'pg';
import type { DatabaseTarget } from '../platform/data/connection/data-source-options.js';
import { destroyConnection, ResilientClient } from '../platform/data/connection/driver-pool.js';

const CONNECT_MS = 10_000;

/**
 * Runs work on a new connection. An error closes the connection, which rolls its transaction back.
 * @param config further options of the connection
 */
export async function withConnection<T>(
  target: DatabaseTarget,
  work: (client: pg.Client) => Promise<T>,
  config: pg.ClientConfig = {},
): Promise<T> {
  // `ssl` is set because PGSSLMODE may be meant for another server than the embedded one.
  const address = 'url' in target ? { connectionString: target.url } : { ...target, ssl: false };
  const client = new ResilientClient({
    ...address,
    application_name: 'latitude',
    keepAlive: true,
    connectionTimeoutMillis: CONNECT_MS,
    ...config,
  });
  try {
    await client.connect();
    const result = await work(client);
    await client.end();
    return result;
  } catch (error) {
    destroyConnection(client);
    throw error;
  }
}
