import { once } from 'node:events';
import pg from 'pg';
import { SettingError } from '../platform/config/setting.js';
import { DEFAULT_CONNECTIONS, type Settings } from '../platform/config/settings.js';
import { logger } from '../platform/config/logger.js';
import { withTimeout } from '../platform/config/timeout.js';
import {
  type DatabaseTarget,
  POOL_WAIT_MS,
} from '../platform/data/connection/data-source-options.js';
import { messageOf } from './embedded-postgres/errors.js';
import { openEmbeddedPostgres } from './embedded-postgres/embedded-postgres.js';
import { repeatWhileDown } from '../platform/data/connection/repeat-while-down.js';
import { ResilientClient } from '../platform/data/connection/driver-pool.js';
import {
  isTransactionPooled,
  poolerProblem,
} from '../platform/data/connection/transaction-pooler.js';

/** Timeout of the first connection, including its first statement. */
const FIRST_ANSWER_MS = 5_000;

/** Default of `max_connections` of PostgreSQL. */
const DEFAULT_MAX_CONNECTIONS = 100;

const NO_SCHEMA = 'leads to a database in which the user has no schema: check its search_path';
const NO_PRIMARY = 'needs DATABASE_URL: the embedded PostgreSQL has no replicas';

/** Reads of all events lock each day of them, with its indexes. The defaults of PostgreSQL have room for 30 days. */
const DEFAULT_EVENTS_RETENTION_MS = 30 * 86_400_000;
const MORE_LOCKS = ['-c', 'max_locks_per_transaction=256'];

const NOT_EMBEDDED =
  'is for the embedded PostgreSQL, but DATABASE_URL is set: back that database up by "latitude backup" or pg_dump';

/** The values of `sslmode` that the driver knows. It ignores others. */
const SSL_MODES = ['disable', 'no-verify', 'prefer', 'require', 'verify-ca', 'verify-full'];

/** A running PostgreSQL. */
export interface DatabaseHandle {
  readonly target: DatabaseTarget;
  /** Whether this is the embedded PostgreSQL. */
  readonly embedded: boolean;
  /** Stops PostgreSQL if this process started it. */
  close(): Promise<void>;
}

/**
 * Opens the database of the settings: that of `DATABASE_URL`, or the embedded PostgreSQL. A server waits for a
 * database that is starting.
 * @param role `command` for a run of the command line
 * @param signal ends the opening
 * @throws SettingError if there is no usable database
 */
export async function openDatabase(
  settings: Settings,
  role: 'server' | 'command',
  signal?: AbortSignal,
): Promise<DatabaseHandle> {
  if (!settings.databaseUrl && settings.databaseReplicaUrls.length > 0) {
    throw new SettingError('DATABASE_REPLICA_URLS', NO_PRIMARY);
  }
  // A command can restore a backup into another database.
  if (settings.databaseUrl && settings.backupDir !== undefined && role === 'server') {
    throw new SettingError('BACKUP_DIR', NOT_EMBEDDED);
  }
  for (const url of settings.databaseReplicaUrls) assertReadable('DATABASE_REPLICA_URLS', url);
  if (settings.databaseUrl) {
    assertReadable('DATABASE_URL', settings.databaseUrl);
    const { databaseUrl, databasePreparedStatements } = settings;
    const attempt = () => tryConnection(databaseUrl, databasePreparedStatements);
    // A command has a user who can repeat it.
    const pooled = await unlessAborted(
      signal,
      role === 'server' ? repeatWhileDown(attempt, signal) : attempt(),
    );
    return {
      target: { url: databaseUrl, isUnpooled: pooled === false },
      embedded: false,
      close: () => Promise.resolve(),
    };
  }
  // Enough for the connections of the server and of commands beside it.
  const connections = 2 * settings.databaseMaxConnections + DEFAULT_CONNECTIONS;
  const postgres = await openEmbeddedPostgres({
    dataDir: settings.dataDir,
    role,
    signal,
    flags: [
      ...(connections > DEFAULT_MAX_CONNECTIONS ? ['-c', `max_connections=${connections}`] : []),
      ...(settings.eventsRetention > DEFAULT_EVENTS_RETENTION_MS ? MORE_LOCKS : []),
    ],
    log: (line) => {
      logger.debug({ context: 'postgres' }, line);
    },
  });
  return { target: postgres.connection, embedded: true, close: () => postgres.stop() };
}

/** @throws the reason of the signal if it is aborted first. The work goes on without an effect. */
async function unlessAborted<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (!signal) return work;
  const aborted = signal.aborted ? Promise.resolve() : once(signal, 'abort');
  return Promise.race([
    work,
    aborted.then(() => {
      throw signal.reason as Error;
    }),
  ]);
}

/**
 * @throws SettingError if the driver does not know the `sslmode` of a URL, or cannot read the URL or a file
 *   that it names, such as `sslrootcert`
 */
function assertReadable(name: string, connectionString: string): void {
  for (const mode of new URL(connectionString).searchParams.getAll('sslmode')) {
    // The driver ignores an empty value.
    if (mode === '' || SSL_MODES.includes(mode)) continue;
    const problem = `has the sslmode "${mode}", which must be one of ${SSL_MODES.join(', ')}`;
    throw new SettingError(name, problem);
  }
  try {
    new pg.Client({ connectionString });
  } catch (error) {
    throw new SettingError(name, `cannot be used: ${messageOf(error)}`);
  }
}

/**
 * @returns whether there is a pooler in transaction mode; undefined if that is not known
 * @throws SettingError if the URL does not lead to a usable database
 */
async function tryConnection(
  url: string,
  preparesStatements: boolean,
): Promise<boolean | undefined> {
  const clients = [1, 2].map(() => {
    return new ResilientClient({ connectionString: url, connectionTimeoutMillis: FIRST_ANSWER_MS });
  }) as [ResilientClient, ResilientClient];
  const [first, second] = clients;
  try {
    await first.connect().then(() => first.setUp('select', FIRST_ANSWER_MS));
  } catch (error) {
    throw new SettingError(
      'DATABASE_URL',
      `refers to a database that cannot be reached: ${messageOf(error)}`,
      { cause: error },
    );
  }
  const reject = (reason: string) => new SettingError('DATABASE_URL', reason);
  try {
    if (!(await hasSchema(first))) throw reject(NO_SCHEMA);
    const check = second.connect().then(async () => {
      const pooled = await isTransactionPooled(first, second);
      const problem = pooled ? await poolerProblem(first, second, preparesStatements) : undefined;
      return { pooled, problem };
    });
    // Undefined if the second connection cannot be opened, or if a check fails or takes too long.
    const found = await withTimeout(check, POOL_WAIT_MS).catch(() => undefined);
    if (found?.problem) throw reject(found.problem);
    return found?.pooled;
  } finally {
    await Promise.all(clients.map((client) => client.end()));
  }
}

/** Whether there is a schema in which tables can be created. */
async function hasSchema(connection: pg.Client): Promise<boolean> {
  const { rows } = await connection.query<{ schema: string | null }>(
    'select current_schema() as schema',
  );
  return typeof rows[0]?.schema === 'string';
}
