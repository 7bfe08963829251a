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

/** The options with which a postmaster is started and restarted. */
export interface LaunchOptions {
  readonly cluster: Cluster;
  readonly runtime: Runtime;
  readonly flags: readonly string[];
  readonly log: (line: string) => void;
}

/** A running postmaster, the main process of PostgreSQL. */
export interface Postmaster {
  readonly pid: number;
  /** Resolves to the reason when the postmaster or its guard has ended. */
  readonly exited: Promise<string>;
  /** Ends all processes of the cluster: by a fast shutdown, and by force after a timeout. */
  stop(): Promise<void>;
}

/** The contents of `postmaster.pid`. */
export interface LockFile {
  readonly pid: number;
  readonly ready: boolean;
}

/** Signals and timeouts. SIGINT writes a checkpoint. SIGQUIT does not: the next startup replays the log. */
const SHUTDOWN = [
  ['SIGINT', 15_000],
  ['SIGQUIT', 6_000],
  ['SIGKILL', 5_000],
] as const;

/** Without a postmaster, sessions end by themselves when they next wait. */
const ORPHAN_TIMEOUT_MS = 3_000;

/** The output goes to our log. Details and statements are omitted, because they can quote records. */
const LOG_SETTINGS = { log_error_verbosity: 'terse', log_min_error_statement: 'panic' };

/** These failures end when the processes of an earlier run have ended. */
const TRANSIENT_FAILURE = /pre-existing shared memory block|lock file ".*" already exists/;
const ATTEMPTS = 50;

/**
 * Ends the processes of an earlier run, starts the postmaster and waits until it accepts connections.
 * @throws Error with its last lines if it does not start
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

/** @returns undefined if there is no complete file */
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
    // The setting is a list. A quoted path may contain a comma.
    unix_socket_directories: `"${cluster.socketDirectory.replaceAll('"', '""')}"`,
    port: String(PORT),
    cluster_name: cluster.name,
    ...TUNING,
    ...LOG_SETTINGS,
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return [join(runtime.binaries, 'bin/postgres'), '-D', cluster.directory, ...options, ...flags];
}

/** @returns undefined if the process ended */
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
  // PostgreSQL takes any process with the recorded id for a running postmaster.
  if (lock !== undefined && isPidInUse(lock.pid)) {
    await rm(join(cluster.directory, 'postmaster.pid'), { force: true });
  }
  await Promise.all(
    [cluster.socket, `${cluster.socket}.lock`].map((it) => rm(it, { force: true })),
  );
}

/** The id may have been reused by another process, even by the postmaster of another directory. */
async function isPostmasterOf({ directory }: Cluster, { pid }: ProcessIdentity): Promise<boolean> {
  const command = await commandOf(pid);
  const isPostgres = /(?:^|\/)postgres(?: |$)/.test(command);
  const isHere = (await workingDirectoryOf(pid)) === directory;
  return isPostgres && (isHere || `${command} `.includes(`postgres -D ${directory} `));
}

/** Busy sessions outlive a killed postmaster and keep its shared memory. */
async function endOrphans({ name }: Cluster): Promise<void> {
  const find = () => findProcesses((title) => title.startsWith(`postgres: ${name}: `));
  const haveGone = async () => (await find()).length === 0;
  if (await pollUntil(haveGone, { every: 20, timeout: ORPHAN_TIMEOUT_MS })) return;
  await Promise.all((await find()).map((orphan) => endProcess(orphan, [['SIGKILL', 5_000]])));
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const finish = (isListening: boolean) => {
      socket.destroy();
      resolve(isListening);
    };
    socket.once('connect', () => {
      finish(true);
    });
    // The queue of the listener is full.
    socket.once('error', (error) => {
      finish(errorCode(error) === 'EAGAIN');
    });
  });
}
