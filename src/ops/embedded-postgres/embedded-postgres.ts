import { rm, rmdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { assertSameMajorVersion, type Cluster, locateCluster, prepareCluster } from './cluster.js';
import { type Connection, connectionThrough, ensureDatabase, isAccepting } from './connection.js';
import { DataDirectoryInUseError, messageOf } from './errors.js';
import { acquire, type Owner, type Release, type Role } from './owner.js';
import { startPostmaster } from './postmaster.js';
import { findInstallation, type Installation, prepareRuntime } from './runtime.js';

export interface EmbeddedPostgresOptions {
  /** DATA_DIR. Its folder `postgres` contains the cluster. */
  readonly dataDir: string;
  /** Whether a server or a command of the command line opens the database. */
  readonly role: Role;
  /** Ends the opening. A PostgreSQL that is starting is stopped. */
  readonly signal?: AbortSignal;
  /** Additional arguments of `postgres`, such as `['-c', 'fsync=off']`. */
  readonly flags?: readonly string[];
  /** Receives each line that PostgreSQL logs, and messages about recovery. */
  readonly log?: (line: string) => void;
}

/** A running PostgreSQL. */
export interface EmbeddedPostgres {
  readonly connection: Connection;
  /** Shuts PostgreSQL down if this process started it. Can be called more than once. */
  stop(): Promise<void>;
}

/** With the cleanup after a failure, startup takes at most 60 seconds. */
const START_TIMEOUT_MS = 50_000;
const COMMAND_TIMEOUT_MS = 20_000;

/**
 * Starts the PostgreSQL of a data directory, and creates the database on first use. It runs until
 * `stop()` is called or this process ends. If a server is running, a command connects to the PostgreSQL
 * of that server, and `stop()` does not stop it.
 *
 * @throws DataDirectoryInUseError if another process uses the directory
 * @throws Error whose message is meant for the user if it cannot start within 60 seconds
 */
export async function openEmbeddedPostgres(
  options: EmbeddedPostgresOptions,
): Promise<EmbeddedPostgres> {
  const timeout = AbortSignal.timeout(START_TIMEOUT_MS);
  const signal = AbortSignal.any([timeout, ...(options.signal ? [options.signal] : [])]);
  try {
    const installation = await findInstallation();
    const cluster = await locateCluster(options.dataDir);
    const access = await gainAccess(cluster, options.role, signal);
    if (typeof access !== 'function') return access;
    try {
      return await start(installation, cluster, options, signal, access);
    } catch (error) {
      await access();
      throw error;
    }
  } catch (error) {
    throw toUserError(error, resolve(options.dataDir), timeout);
  }
}

/** Waits until this process owns the data directory, or can connect to the running server. */
async function gainAccess(
  cluster: Cluster,
  role: Role,
  signal: AbortSignal,
): Promise<Release | EmbeddedPostgres> {
  const latest = performance.now() + COMMAND_TIMEOUT_MS;
  for (;;) {
    const acquired = await acquire(cluster, role);
    if (typeof acquired === 'function') return acquired;
    if (acquired.role === 'server') {
      if (role === 'server') throw inUseBy(acquired, cluster);
      const connection = connectionThrough(acquired.socketDirectory);
      if (await isAccepting(connection)) return { connection, stop: () => Promise.resolve() };
    } else if (performance.now() > latest) {
      throw inUseBy(acquired, cluster);
    }
    await sleep(50, undefined, { signal });
  }
}

/** @param release ends the ownership of the data directory, which `stop()` calls */
async function start(
  installation: Installation,
  cluster: Cluster,
  { flags = [], log = () => undefined }: EmbeddedPostgresOptions,
  signal: AbortSignal,
  release: Release,
): Promise<EmbeddedPostgres> {
  const { dataDirectory, directory, socketDirectory } = cluster;
  const connection = connectionThrough(socketDirectory);
  await assertSameMajorVersion(cluster, installation);
  const runtime = await prepareRuntime(installation, dataDirectory, directory);
  await prepareCluster(cluster, runtime, signal);
  const starting = startPostmaster({ cluster, runtime, flags, log }, signal);
  const stopPostmaster = await starting.catch(async (error: unknown) => {
    // Removes only an empty directory. A socket in it may belong to another process.
    await rmdir(socketDirectory).catch(() => undefined);
    throw error;
  });
  const shutDown = async () => {
    try {
      await stopPostmaster();
      // A killed postmaster leaves its socket behind.
      await rm(socketDirectory, { recursive: true, force: true });
    } finally {
      await release();
    }
  };
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= shutDown());
  await ensureDatabase(connection).catch(async (cause: unknown) => {
    await stop();
    const message = `PostgreSQL in ${directory} cannot open its database: ${messageOf(cause)}`;
    throw new Error(message, { cause });
  });
  return { connection, stop };
}

function inUseBy({ role, pid }: Owner, { dataDirectory }: Cluster): DataDirectoryInUseError {
  const whatToDo =
    role === 'server' ? 'stop that one' : 'wait for it to end, or stop it, and try again';
  return new DataDirectoryInUseError(
    dataDirectory,
    `another Latitude ${role} (process ${pid})`,
    `${whatToDo}, or set DATA_DIR to another directory`,
  );
}

/** Gives system errors and timeouts a message that is meant for the user. Other errors already have one. */
function toUserError(error: unknown, dataDirectory: string, timeout: AbortSignal): unknown {
  const failure = error as { name?: string; syscall?: string };
  if (timeout.aborted && (failure.name === 'AbortError' || failure.name === 'TimeoutError')) {
    const seconds = START_TIMEOUT_MS / 1_000;
    const message = `The embedded PostgreSQL in ${dataDirectory} did not start within ${seconds} s.`;
    return new Error(message, { cause: error });
  }
  if (failure.syscall === undefined) return error;
  return new Error(
    `The data directory ${dataDirectory} cannot be used (${messageOf(error)}): fix the problem, or set DATA_DIR to a directory that this user can write to.`,
    { cause: error },
  );
}
