import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import {
  lchown,
  lstat,
  mkdir,
  open,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { errorCode, unlessMissing } from './errors.js';
import { GuardedProcess, type RunAs } from './guarded-process.js';
import type { Installation, Runtime } from './runtime.js';
import { pollUntil } from './polling.js';

/** Only part of the name of the socket: PostgreSQL does not listen on a network. */
export const PORT = 5432;

/** The limit of the system is 104 bytes on macOS and 108 on Linux. */
const MAX_SOCKET_PATH_BYTES = 100;

/** The user `postgres`, whose socket only the user of the process can open, and the locale of the database. */
const INITDB_OPTIONS = [
  ...['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C'],
  ...['--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
];

/** The paths of a cluster. */
export interface Cluster {
  /** DATA_DIR without symbolic links, so that every process uses the same path. */
  readonly dataDirectory: string;
  readonly directory: string;
  readonly socketDirectory: string;
  readonly socket: string;
}

/** Determines the paths of the cluster, and creates the data directory if it is missing. */
export async function locateCluster(dataDir: string): Promise<Cluster> {
  await makeDirectories(resolve(dataDir));
  const dataDirectory = await realpath(dataDir);
  const hash = createHash('sha256').update(dataDirectory).digest('hex').slice(0, 16);
  const temporary = `latitude-${process.getuid?.() ?? 0}-${hash}`;
  const places = [
    join(dataDirectory, 'run'),
    join(tmpdir(), temporary),
    join('/tmp', temporary),
  ] as const;
  const isShortEnough = (directory: string) =>
    Buffer.byteLength(socketIn(directory)) <= MAX_SOCKET_PATH_BYTES;
  const socketDirectory = places.find(isShortEnough) ?? places[2];
  return {
    dataDirectory,
    directory: join(dataDirectory, 'postgres'),
    socketDirectory,
    socket: socketIn(socketDirectory),
  };
}

/**
 * Checks that the binaries can read the cluster, before anything in the data directory changes.
 * @throws Error that names the commands which move the data if another major version created it
 */
export async function assertSameMajorVersion(
  cluster: Cluster,
  { version }: Installation,
): Promise<void> {
  const created = await majorVersionOf(cluster);
  const [included = ''] = version.split('.');
  if (created === undefined || created === included) return;
  const { dataDirectory } = cluster;
  throw new Error(
    `The data in ${dataDirectory} is of PostgreSQL ${created}, and this version of Latitude includes PostgreSQL ${included}. Nothing has been changed. ` +
      `To move the data, run "latitude backup latitude.backup" with a version of Latitude that includes PostgreSQL ${created}, such as the one that ran before; ` +
      `move the directory away, as with "mv ${dataDirectory} ${dataDirectory}.postgres${created}"; and run "latitude restore --resume latitude.backup" with this version.`,
  );
}

/** The major version of PostgreSQL that created the cluster; undefined if there is none. */
async function majorVersionOf({ directory }: Cluster): Promise<string | undefined> {
  const version = await readFile(join(directory, 'PG_VERSION'), 'utf8').catch(
    unlessMissing(undefined),
  );
  return version?.trim();
}

/** Creates the cluster if needed, and sets owners and permissions as the postmaster requires. */
export async function prepareCluster(
  cluster: Cluster,
  runtime: Runtime,
  signal: AbortSignal,
): Promise<void> {
  await removeLeftovers(cluster.dataDirectory);
  if ((await majorVersionOf(cluster)) === undefined) await initialize(cluster, runtime, signal);
  await changeOwner(runtime.runAs, cluster.directory);
  await prepareSocketDirectory(cluster.socketDirectory, runtime.runAs);
}

/** Unlike the recursive mkdir of Node.js, this ends for paths in /proc. */
async function makeDirectories(directory: string): Promise<void> {
  if (existsSync(directory)) return;
  await makeDirectories(dirname(directory));
  await mkdir(directory).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error;
  });
}

function socketIn(directory: string): string {
  return join(directory, `.s.PGSQL.${PORT}`);
}

/** Removes the incomplete directories of killed processes. An interrupted initdb may write for a moment more. */
async function removeLeftovers(dataDirectory: string): Promise<void> {
  const names = await readdir(dataDirectory);
  for (const name of names.filter((each) => /^(postgres\.init|owner\.claim)-/.test(each))) {
    const path = join(dataDirectory, name);
    await rm(path, { recursive: true, force: true, maxRetries: 10 }).catch(() => undefined);
  }
}

/** Creates the cluster in a temporary directory and moves it into place when it is complete. */
async function initialize(
  { dataDirectory, directory }: Cluster,
  { binaries, runAs }: Runtime,
  signal: AbortSignal,
): Promise<void> {
  const temporary = `${directory}.init-${process.pid}`;
  await mkdir(temporary, { mode: 0o700 });
  try {
    await changeOwner(runAs, temporary);
    const command = [join(binaries, 'bin/initdb'), '-D', temporary, ...INITDB_OPTIONS];
    const initdb = new GuardedProcess(command, runAs);
    try {
      await pollUntil(() => initdb.ended !== undefined, { signal });
    } finally {
      await initdb.end();
    }
    if (initdb.ended !== 'exit code 0') {
      throw new Error(
        `initdb could not create the database cluster in ${directory} (${initdb.ended}): ${initdb.lastOutput}`,
      );
    }
    await rename(temporary, directory);
    // Makes the rename durable: a power failure must not undo it after rows were committed.
    const folder = await open(dataDirectory);
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}

/** Changes the owner of a directory recursively. The directory is last, so that an interrupted run repeats. */
export async function changeOwner(
  { uid, gid }: Pick<RunAs, 'uid' | 'gid'>,
  directory: string,
): Promise<void> {
  if (uid === undefined || gid === undefined) return;
  if ((await lstat(directory)).uid === uid) return;
  for (const entry of await readdir(directory, { recursive: true })) {
    await lchown(join(directory, entry), uid, gid);
  }
  await lchown(directory, uid, gid);
}

/** Everyone who can enter the directory can connect as superuser, so only this user may own and enter it. */
async function prepareSocketDirectory(directory: string, runAs: RunAs): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const stats = await lstat(directory);
  const isOurs = stats.uid === process.getuid?.() || stats.uid === runAs.uid;
  if (!stats.isDirectory() || !isOurs || (stats.mode & 0o077) !== 0) {
    throw new Error(
      `The directory ${directory}, meant for the database's socket, belongs to another user, or other users can enter it: remove it.`,
    );
  }
  await changeOwner(runAs, directory);
}
