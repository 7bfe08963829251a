import pg from 'pg';
import { SettingError, type Settings } from '../config/settings.js';
import { logger } from '../config/logger.js';
import type { DatabaseTarget } from './data-source-options.js';
import { openEmbeddedPostgres } from './embedded-postgres.js';

/** A PostgreSQL that can be connected to. */
export interface OpenDatabase {
  readonly target: DatabaseTarget;
  /** Whether it is the embedded one. */
  readonly embedded: boolean;
  /** Stops it where this process started it. */
  close(): Promise<void>;
}

/**
 * The database of the settings: the one that `DATABASE_URL` names, or the embedded one.
 * @param role whether the process goes on serving, or is one run of the command line
 */
export async function openDatabase(
  settings: Settings,
  role: 'server' | 'command',
): Promise<OpenDatabase> {
  if (settings.databaseUrl) {
    await tryConnection(settings.databaseUrl);
    return {
      target: { url: settings.databaseUrl },
      embedded: false,
      close: () => Promise.resolve(),
    };
  }
  const postgres = await openEmbeddedPostgres({
    dataDir: settings.dataDir,
    role,
    log: (line) => {
      logger.debug({ context: 'postgres' }, line);
    },
  });
  return { target: postgres.connection, embedded: true, close: () => postgres.stop() };
}

/** @throws SettingError that says why the URL does not lead to a database */
async function tryConnection(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // A connection that breaks later is no one's here.
  client.on('error', () => undefined);
  try {
    await client.connect();
  } catch (error) {
    const reason = error instanceof Error && error.message !== '' ? error.message : String(error);
    throw new SettingError('DATABASE_URL', `leads to no database: ${reason}`);
  }
  await client.end();
}
