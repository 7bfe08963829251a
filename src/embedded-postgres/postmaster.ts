import { readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, PORT } from './cluster.js';
import { DataDirectoryInUseError, errorCode, unlessMissing } from './errors.js';
import { type GuardedProcess, spawnGuarded } from './guarded-process.js';
import {
  commandOf,
  endProcess,
  findProcesses,
  identify,
  isPidInUse,
  type ProcessIdentity,
  workingDirectoryOf,
} from './processes.js';
import type { Runtime } from './runtime.js';
import { TUNING } from './tuning.js';
import { pollUntil } from './polling.js';

/** What it takes to start a cluster's postmaster, again if need be. */
export interface LaunchOptions {
  readonly cluster: Cluster;
  readonly runtime: Runtime;
  readonly flags: readonly string[];
  readonly log: (line: string) => void;
}

/** A running postmaster, the first process of PostgreSQL. */
export interface Postmaster {
  readonly pid: number;
  /** Settles, with how it happened, when it has ended or has lost its guard. */
  readonly exited: Promise<string>;
  /** Ends all processes of the cluster: fast, and by force if that takes too long. */
  stop(): Promise<void>;
}

/** What a postmaster tells about itself in its data directory. */
export interface LockFile {
  readonly pid: number;
  readonly ready: boolean;
}

/** Fast shutdown writes a checkpoint; SIGQUIT does not, and the next start replays the log. */
const SHUTDOWN = [
  ['SIGINT', 15_000],
  ['SIGQUIT', 6_000],
  ['SIGKILL', 5_000],
] as const;

/** Postmaster gone, sessions end by themselves as soon as they wait for anything. */
const ORPHAN_TIMEOUT_MS = 3_000;

/** What it writes comes into our log: details and statements can quote what is stored. */
const LOG_SETTINGS = { log_error_verbosity: 'terse', log_min_error_statement: 'panic' };

/** These pass as soon as the processes of an earlier run have gone. */
const TRANSIENT_FAILURE = /pre-existing shared memory block|lock file ".*" already exists/;
const ATTEMPTS = 50;

/**
 * Ends what an earlier run has left, starts the postmaster and waits until it accepts connections.
 * @throws Error with its last lines when it does not start
 */
export async function startPostmaster(
  launch: LaunchOptions,
  signal: AbortSignal,
): Promise<Postmaster> {
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    await stopEarlierRun(launch);
    const guarded = await spawnGuarded(commandLine(launch), launch.runtime.runAs, launch.log);
    const postmaster = await becomeReady(guarded, launch.cluster, signal);
    if (postmaster !== undefined) return postmaster;
    if (!TRANSIENT_FAILURE.test(guarded.lastOutput) || attempt === ATTEMPTS) {
      throw new Error(
        `PostgreSQL could not start in ${launch.cluster.directory} (${guarded.ended ?? ''}): ${guarded.lastOutput}`,
      );
    }
    await sleep(200, undefined, { signal });
  }
}

/** Undefined while there is none, and while it is being written. */
export async function readLockFile({ directory }: Cluster): Promise<LockFile | undefined> {
  const text = await readFile(join(directory, 'postmaster.pid'), 'utf8').catch(unlessMissing(''));
  const lines = text.split('\n');
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  return { pid, ready: lines[7]?.trim() === 'ready' };
}

function commandLine({ cluster, runtime, flags }: LaunchOptions): string[] {
  const settings = {
    listen_addresses: '',
    // A list of directories: quoted, a path may contain a comma.
    unix_socket_directories: `"${cluster.socketDirectory.replaceAll('"', '""')}"`,
    port: String(PORT),
    cluster_name: cluster.name,
    ...TUNING,
    ...LOG_SETTINGS,
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return [join(runtime.binaries, 'bin/postgres'), '-D', cluster.directory, ...options, ...flags];
}

/** Undefined when it ended instead. */
async function becomeReady(
  guarded: GuardedProcess,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<Postmaster | undefined> {
  const isReady = async () => {
    const lock = await readLockFile(cluster);
    return lock?.pid === guarded.pid && lock.ready;
  };
  try {
    const isOver = async () => guarded.ended !== undefined || (await isReady());
    await pollUntil(isOver, { every: 10, signal });
  } catch (cause) {
    await guarded.end();
    const message = `PostgreSQL in ${cluster.directory} was not ready in time: ${guarded.lastOutput}`;
    throw new Error(message, { cause });
  }
  const itself = await identify(guarded.pid);
  if (guarded.ended !== undefined || itself === undefined) {
    await guarded.end();
    return undefined;
  }
  return {
    pid: guarded.pid,
    exited: guarded.exited,
    async stop() {
      await endProcess(itself, SHUTDOWN);
      await guarded.end();
      await endOrphans(cluster);
    },
  };
}

async function stopEarlierRun({ cluster, log }: LaunchOptions): Promise<void> {
  const lock = await readLockFile(cluster);
  const earlier = lock && (await identify(lock.pid));
  if (earlier !== undefined && (await isPostmasterOf(cluster, earlier))) {
    log(`stopping PostgreSQL of an earlier run (process ${earlier.pid})`);
    await endProcess(earlier, SHUTDOWN);
  }
  await endOrphans(cluster);
  if (await isListening(cluster.socket)) {
    throw new DataDirectoryInUseError(
      cluster.dataDirectory,
      'a PostgreSQL that cannot be seen from here, probably in another container',
      'stop that one, or set DATA_DIR to another directory',
    );
  }
  // Postgres takes any process with the recorded id for a living postmaster.
  if (lock !== undefined && isPidInUse(lock.pid)) {
    await rm(join(cluster.directory, 'postmaster.pid'), { force: true });
  }
  await Promise.all(
    [cluster.socket, `${cluster.socket}.lock`].map((it) => rm(it, { force: true })),
  );
}

/** Its id may have been given to a stranger, even to the postmaster of another directory. */
async function isPostmasterOf({ directory }: Cluster, { pid }: ProcessIdentity): Promise<boolean> {
  const command = await commandOf(pid);
  const isPostgres = /(?:^|\/)postgres(?: |$)/.test(command);
  const isHere = (await workingDirectoryOf(pid)) === directory;
  return isPostgres && (isHere || `${command} `.includes(`postgres -D ${directory} `));
}

/** Sessions outlive a killed postmaster while they compute, and keep its shared memory. */
async function endOrphans({ name }: Cluster): Promise<void> {
  const find = () => findProcesses((title) => title.startsWith(`postgres: ${name}: `));
  const haveGone = async () => (await find()).length === 0;
  if (await pollUntil(haveGone, { every: 20, timeout: ORPHAN_TIMEOUT_MS })) return;
  await Promise.all((await find()).map((orphan) => endProcess(orphan, [['SIGKILL', 5_000]])));
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const answer = (isTrue: boolean) => {
      socket.destroy();
      resolve(isTrue);
    };
    socket.once('connect', () => {
      answer(true);
    });
    // A listener whose queue is full is a listener.
    socket.once('error', (error) => {
      answer(errorCode(error) === 'EAGAIN');
    });
  });
}
