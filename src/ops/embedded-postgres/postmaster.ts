import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Cluster, PORT } from './cluster.js';
import { DataDirectoryInUseError, errorCode, messageOf, unlessMissing } from './errors.js';
import { GuardedProcess } from './guarded-process.js';
import { endProcess, findProcess, findProcesses, isPidInUse } from './processes.js';
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

/** The contents of `postmaster.pid`. */
interface LockFile {
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

const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 5_000;
const RESTART_TIMEOUT_MS = 60_000;
/** A postmaster that ran for this long is restarted without a longer pause. */
const HEALTHY_AFTER_MS = 60_000;

/** The main process of PostgreSQL, which is restarted until it is stopped. */
export class Postmaster {
  readonly #stopping = new AbortController();
  readonly #watch: Promise<void>;

  private constructor(
    private readonly launch: LaunchOptions,
    private running: GuardedProcess,
  ) {
    this.#watch = this.#keepRunning();
  }

  /**
   * Ends the processes of an earlier run, starts the postmaster and waits until it accepts connections.
   * @throws Error with its last lines if it does not start
   */
  static async start(launch: LaunchOptions, signal: AbortSignal): Promise<Postmaster> {
    return new Postmaster(launch, await start(launch, signal));
  }

  get pid(): number {
    return this.running.pid;
  }

  /** Ends all processes of the cluster: by a fast shutdown, and by force after a timeout. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#watch;
  }

  async #keepRunning(): Promise<void> {
    const { signal } = this.#stopping;
    const stopped = once(signal, 'abort');
    let pause = MIN_PAUSE_MS;
    for (;;) {
      const since = performance.now();
      const ending = await Promise.race([this.running.exited, stopped]);
      if (signal.aborted) break;
      if (performance.now() - since > HEALTHY_AFTER_MS) pause = MIN_PAUSE_MS;
      this.launch.log(`PostgreSQL ended unexpectedly (${String(ending)}): starting it again`);
      let isOver = false;
      while (!isOver) {
        isOver = await this.#startAgain(pause, signal);
        pause = Math.min(pause * 2, MAX_PAUSE_MS);
      }
    }
    await endProcesses(this.launch.cluster);
    await this.running.end();
  }

  /** @returns false if it must be tried again */
  async #startAgain(pause: number, stopping: AbortSignal): Promise<boolean> {
    try {
      await sleep(pause, undefined, { signal: stopping });
      // A postmaster that lost only its guard is still running.
      await this.running.end();
      const signal = AbortSignal.any([stopping, AbortSignal.timeout(RESTART_TIMEOUT_MS)]);
      this.running = await start(this.launch, signal);
      return true;
    } catch (error) {
      if (!stopping.aborted) this.launch.log(messageOf(error));
      return stopping.aborted;
    }
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

async function start(launch: LaunchOptions, signal: AbortSignal): Promise<GuardedProcess> {
  const { cluster, runtime, log } = launch;
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    await endEarlierRun(cluster);
    const postmaster = new GuardedProcess(commandLine(launch), runtime.runAs, log);
    if (await becomesReady(postmaster, cluster, signal)) return postmaster;
    if (!TRANSIENT_FAILURE.test(postmaster.lastOutput) || attempt === ATTEMPTS) {
      throw new Error(
        `PostgreSQL could not start in ${cluster.directory} (${postmaster.ended}): ${postmaster.lastOutput}`,
      );
    }
    await sleep(200, undefined, { signal });
  }
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

/** @returns false if the process ended */
async function becomesReady(
  postmaster: GuardedProcess,
  cluster: Cluster,
  signal: AbortSignal,
): Promise<boolean> {
  const isReady = async () => {
    const lock = await readLockFile(cluster);
    return lock?.ready === true && lock.pid === postmaster.pid;
  };
  try {
    const isOver = async () => postmaster.ended !== undefined || (await isReady());
    await pollUntil(isOver, { every: 10, signal });
  } catch (cause) {
    await postmaster.end();
    const message = `PostgreSQL in ${cluster.directory} was not ready in time: ${postmaster.lastOutput}`;
    throw new Error(message, { cause });
  }
  if (postmaster.ended === undefined) return true;
  await postmaster.end();
  return false;
}

async function endEarlierRun(cluster: Cluster): Promise<void> {
  const lock = await endProcesses(cluster);
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

/**
 * Ends the postmaster of the cluster, also one of an earlier run, and its sessions, which outlive a killed postmaster
 * while they are busy and keep its shared memory.
 */
async function endProcesses(cluster: Cluster): Promise<LockFile | undefined> {
  const lock = await readLockFile(cluster);
  const postmaster = lock && (await findProcess(lock.pid));
  // The id may have been reused by another process, even by the postmaster of another directory.
  if (postmaster && `${postmaster.command} `.includes(`postgres -D ${cluster.directory} `)) {
    await endProcess(postmaster, SHUTDOWN);
  }
  const orphans = () => findProcesses((title) => title.startsWith(`postgres: ${cluster.name}: `));
  const haveGone = async () => (await orphans()).length === 0;
  if (!(await pollUntil(haveGone, { every: 20, timeout: ORPHAN_TIMEOUT_MS }))) {
    await Promise.all((await orphans()).map((orphan) => endProcess(orphan, [['SIGKILL', 5_000]])));
  }
  return lock;
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
