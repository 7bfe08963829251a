import { rm, rmdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, locateCluster, prepareCluster } from './cluster.js';
import { type Connection, connectionThrough, ensureDatabase, isAccepting } from './connection.js';
import { DataDirectoryInUseError, messageOf } from './errors.js';
import { findInstallation, type Installation } from './installation.js';
import { acquire, type Owner, type Ownership, type Role } from './owner.js';
import { readLockFile, startPostmaster } from './postmaster.js';
import { prepareRuntime } from './runtime.js';
import { Supervisor } from './supervisor.js';

export { DataDirectoryInUseError };

/** What to open, and as whom. */
export interface EmbeddedPostgresOptions {
  /** DATA_DIR; the cluster is in its folder `postgres`. */
  readonly dataDir: string;
  /** Who keeps it: a server for as long as it runs, or a command for a moment. */
  readonly role: Role;
  /** Further arguments of postgres, such as `['-c', 'fsync=off']` for tests. */
  readonly flags?: readonly string[];
  /** Receives each line that postgres writes, and notes about recovery. */
  readonly log?: (line: string) => void;
}

/** A PostgreSQL that accepts connections. */
export interface EmbeddedPostgres {
  readonly connection: Connection;
  /** Of the postmaster, its first process; another one after a restart. */
  readonly pid: number;
  /** Shuts it down if this process started it; safe to call more than once. */
  stop(): Promise<void>;
}

/** Of the promised minute, the rest is for ending what has not become ready. */
const START_TIMEOUT_MS = 50_000;
const COMMAND_TIMEOUT_MS = 20_000;

/**
 * Starts the PostgreSQL of a data directory, making the database on first use, and keeps it running
 * until `stop()` is called or this process ends, in whatever way. A command beside a running server
 * gets the server's PostgreSQL instead, and its `stop()` leaves that running.
 *
 * @throws DataDirectoryInUseError when another process keeps the directory
 * @throws Error with a sentence for the user when it cannot start, after 60 seconds at most
 */
export async function openEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const signal = AbortSignal.timeout(START_TIMEOUT_MS);
  try {
    const installation = await findInstallation();
    const cluster = await locateCluster(options.dataDir);
    const access = await gainAccess(cluster, options.role, signal);
    if ('connection' in access) return access;
    return await start(installation, cluster, options, signal)
      .then((supervisor) => owned(cluster, supervisor, access))
      .catch(async (error: unknown) => {
        await access.release();
        throw error;
      });
  } catch (error) {
    throw toUserError(error, resolve(options.dataDir), signal);
  }
}

/** Waits until either the data directory is ours or the running server lets us in. */
async function gainAccess(
  cluster: Cluster,
  role: Role,
  signal: AbortSignal,
): Promise<Ownership | EmbeddedPostgres> {
  const { dataDirectory, socketDirectory } = cluster;
  const latest = performance.now() + COMMAND_TIMEOUT_MS;
  for (;;) {
    const acquired = await acquire(dataDirectory, { role, socketDirectory });
    if ('release' in acquired) return acquired;
    if (acquired.role === 'server') {
      if (role === 'server') throw inUseBy(acquired, dataDirectory);
      const attached = await attach(cluster, acquired);
      if (attached !== undefined) return attached;
    } else if (performance.now() > latest) {
      throw inUseBy(acquired, dataDirectory);
    }
    await sleep(50, undefined, { signal });
  }
}

/** Undefined while the server's PostgreSQL does not accept connections. */
async function attach(cluster: Cluster, server: Owner): Promise<EmbeddedPostgres | undefined> {
  const lock = await readLockFile(cluster);
  if (!lock?.ready) return undefined;
  const connection = connectionThrough(server.socketDirectory);
  if (!(await isAccepting(connection))) return undefined;
  return { connection, pid: lock.pid, stop: () => Promise.resolve() };
}

async function start(
  installation: Installation,
  cluster: Cluster,
  { flags = [], log = () => undefined }: EmbeddedPostgresOptions,
  signal: AbortSignal,
): Promise<Supervisor> {
  const { dataDirectory, directory, socketDirectory } = cluster;
  const runtime = await prepareRuntime(installation, dataDirectory, directory);
  await prepareCluster(cluster, runtime, signal);
  const launch = { cluster, runtime, flags, log };
  try {
    const postmaster = await startPostmaster(launch, signal);
    await ensureDatabase(connectionThrough(socketDirectory)).catch(async (cause: unknown) => {
      await postmaster.stop();
      const message = `PostgreSQL in ${directory} cannot open its database: ${messageOf(cause)}`;
      throw new Error(message, { cause });
    });
    return new Supervisor(launch, postmaster);
  } catch (error) {
    // Only when it is empty: one with a socket in it may belong to whoever is in our way.
    await rmdir(socketDirectory).catch(() => undefined);
    throw error;
  }
}

function owned(
  { socketDirectory }: Cluster,
  supervisor: Supervisor,
  ownership: Ownership,
): EmbeddedPostgres {
  const shutDown = async () => {
    try {
      await supervisor.stop();
      // A killed postmaster leaves its socket there.
      await rm(socketDirectory, { recursive: true, force: true });
    } finally {
      await ownership.release();
    }
  };
  let stopped: Promise<void> | undefined;
  return {
    connection: connectionThrough(socketDirectory),
    get pid() {
      return supervisor.pid;
    },
    stop: () => (stopped ??= shutDown()),
  };
}

function inUseBy({ role, pid }: Owner, dataDirectory: string): DataDirectoryInUseError {
  const whatToDo =
    role === 'server' ? 'stop that one' : 'wait for it to end, or stop it, and try again';
  return new DataDirectoryInUseError(
    dataDirectory,
    `another Latitude ${role} (process ${pid})`,
    `${whatToDo}, or set DATA_DIR to another directory`,
  );
}

/** A failure of the system as a sentence; all others already are one. */
function toUserError(error: unknown, dataDirectory: string, signal: AbortSignal): unknown {
  const failure = error as { name?: string; syscall?: string };
  if (signal.aborted && (failure.name === 'AbortError' || failure.name === 'TimeoutError')) {
    const seconds = START_TIMEOUT_MS / 1_000;
    const message = `The embedded PostgreSQL in ${dataDirectory} did not start within ${seconds} s.`;
    return new Error(message, { cause: error });
  }
  if (failure.syscall === undefined) return error;
  return new Error(
    `The data directory ${dataDirectory} cannot be used (${messageOf(error)}): put that right, or set DATA_DIR to a directory that this user can write to.`,
    { cause: error },
  );
}
