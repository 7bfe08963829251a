import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, PORT } from './cluster.js';
import { DataDirectoryInUseError, errorCode, messageOf, unlessMissing } from './errors.js';
import { GuardedProcess } from './guarded-process.js';
import { endProcess, findProcess } from './processes.js';
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

/** The file in which PostgreSQL stores the id of the postmaster, in line 1, and its state, in line 8. */
const PID_FILE = 'postmaster.pid';

/** Signals and timeouts. SIGINT writes a checkpoint. SIGQUIT does not: the next startup replays the log. */
const SHUTDOWN = [
  ['SIGINT', 15_000],
  ['SIGQUIT', 6_000],
  ['SIGKILL', 5_000],
] as const;

/** The output goes to our log. Details and statements are omitted, because they can quote records. */
const LOG_SETTINGS = { log_error_verbosity: 'terse', log_min_error_statement: 'panic' };

/**
 * These failures end when the processes of an earlier run have ended. The sessions of a killed postmaster keep its
 * shared memory until they next wait.
 */
const TRANSIENT_FAILURE = /pre-existing shared memory block|lock file ".*" already exists/;
const ATTEMPTS = 300;

/** The pause before a restart. It doubles after each one that fails. */
const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 5_000;
const RESTART_TIMEOUT_MS = 60_000;

/**
 * Ends the processes of an earlier run, starts the postmaster and waits until it accepts connections. It is restarted
 * until it is stopped.
 * @returns stops the postmaster: by a fast shutdown, and by force after a timeout
 * @throws Error with its last lines if it does not start
 */
export async function startPostmaster(
  launch: LaunchOptions,
  signal: AbortSignal,
): Promise<() => Promise<void>> {
  const postmaster = await start(launch, signal);
  const stopping = new AbortController();
  const watch = keepRunning(launch, postmaster, stopping.signal);
  return () => {
    stopping.abort();
    return watch;
  };
}

/** Restarts the postmaster until the signal is aborted, and ends it then. */
async function keepRunning(
  launch: LaunchOptions,
  postmaster: GuardedProcess,
  signal: AbortSignal,
): Promise<void> {
  const { cluster, log } = launch;
  const stopped = once(signal, 'abort');
  const isStopping = () => signal.aborted;
  let running = postmaster;
  let pause = MIN_PAUSE_MS;
  for (;;) {
    const ending = await Promise.race([running.exited, stopped]);
    if (isStopping()) break;
    log(`PostgreSQL ended unexpectedly (${String(ending)}): starting it again`);
    try {
      await sleep(pause, undefined, { signal });
      await running.end();
      const timeout = AbortSignal.timeout(RESTART_TIMEOUT_MS);
      running = await start(launch, AbortSignal.any([signal, timeout]));
      pause = MIN_PAUSE_MS;
    } catch (error) {
      if (!isStopping()) log(messageOf(error));
      pause = Math.min(pause * 2, MAX_PAUSE_MS);
    }
  }
  await endPostmaster(cluster);
  await running.end();
}

async function readPidFile({ directory }: Cluster): Promise<string[]> {
  const text = await readFile(join(directory, PID_FILE), 'utf8').catch(unlessMissing(''));
  return text.split('\n');
}

async function start(launch: LaunchOptions, signal: AbortSignal): Promise<GuardedProcess> {
  const { cluster, runtime, log } = launch;
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    await endEarlierRun(cluster);
    const postmaster = new GuardedProcess(commandLine(launch), runtime.runAs, log);
    const isReady = async () => (await readPidFile(cluster))[7]?.trim() === 'ready';
    const isOver = async () => postmaster.ended !== undefined || (await isReady());
    await pollUntil(isOver, { signal }).catch(async (cause: unknown) => {
      await postmaster.end();
      const message = `PostgreSQL in ${cluster.directory} was not ready in time: ${postmaster.lastOutput}`;
      throw new Error(message, { cause });
    });
    if (postmaster.ended === undefined) return postmaster;
    await postmaster.end();
    if (!TRANSIENT_FAILURE.test(postmaster.lastOutput) || attempt === ATTEMPTS) {
      throw new Error(
        `PostgreSQL could not start in ${cluster.directory} (${postmaster.ended}): ${postmaster.lastOutput}`,
      );
    }
    await sleep(100, undefined, { signal });
  }
}

function commandLine({ cluster, runtime, flags }: LaunchOptions): string[] {
  const settings = {
    listen_addresses: '',
    // The setting is a list. A quoted path may contain a comma.
    unix_socket_directories: `"${cluster.socketDirectory.replaceAll('"', '""')}"`,
    port: String(PORT),
    ...TUNING,
    ...LOG_SETTINGS,
  };
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return [join(runtime.binaries, 'bin/postgres'), '-D', cluster.directory, ...options, ...flags];
}

async function endEarlierRun(cluster: Cluster): Promise<void> {
  await endPostmaster(cluster);
  if (await isListening(cluster.socket)) {
    throw new DataDirectoryInUseError(
      cluster.dataDirectory,
      'a PostgreSQL that cannot be seen from here, probably in another container',
      'stop that one, or set DATA_DIR to another directory',
    );
  }
  // PostgreSQL would take any process with the id in postmaster.pid for a running postmaster.
  const files = [join(cluster.directory, PID_FILE), cluster.socket, `${cluster.socket}.lock`];
  await Promise.all(files.map((file) => rm(file, { force: true })));
}

/** Ends the postmaster of the cluster, also one of an earlier run whose guard was killed. */
async function endPostmaster(cluster: Cluster): Promise<void> {
  const [pid] = await readPidFile(cluster);
  const postmaster = await findProcess(Number(pid));
  // The id may have been reused by another process, even by the postmaster of another directory.
  if (postmaster && `${postmaster.command} `.includes(`postgres -D ${cluster.directory} `)) {
    await endProcess(postmaster, SHUTDOWN);
  }
}

async function isListening(path: string): Promise<boolean> {
  const socket = connect(path);
  try {
    await once(socket, 'connect');
    return true;
  } catch (error) {
    // The queue of the listener is full.
    return errorCode(error) === 'EAGAIN';
  } finally {
    socket.destroy();
  }
}
