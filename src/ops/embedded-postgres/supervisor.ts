import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from './errors.js';
import { type LaunchOptions, type Postmaster, startPostmaster } from './postmaster.js';

const MIN_PAUSE_MS = 50;
const MAX_PAUSE_MS = 5_000;
const RESTART_TIMEOUT_MS = 60_000;
/** A postmaster that ran for this long is restarted without a longer pause. */
const HEALTHY_AFTER_MS = 60_000;

/** Restarts a postmaster until it is stopped. */
export class Supervisor {
  readonly #launch: LaunchOptions;
  readonly #stopping = new AbortController();
  readonly #watch: Promise<void>;
  #postmaster: Postmaster;
  #pause = MIN_PAUSE_MS;

  constructor(launch: LaunchOptions, postmaster: Postmaster) {
    this.#launch = launch;
    this.#postmaster = postmaster;
    this.#watch = this.#keepRunning();
  }

  get pid(): number {
    return this.#postmaster.pid;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#watch;
  }

  async #keepRunning(): Promise<void> {
    const { signal } = this.#stopping;
    const stopped = once(signal, 'abort').then(() => undefined);
    while (!signal.aborted) {
      const since = performance.now();
      const ending = await Promise.race([stopped, this.#postmaster.exited]);
      if (ending === undefined) break;
      if (performance.now() - since > HEALTHY_AFTER_MS) this.#pause = MIN_PAUSE_MS;
      this.#launch.log(`PostgreSQL ended unexpectedly (${ending}): starting it again`);
      await this.#startAgain(signal);
    }
    await this.#postmaster.stop();
  }

  async #startAgain(stopping: AbortSignal): Promise<void> {
    const isStopping = () => stopping.aborted;
    while (!isStopping()) {
      try {
        await sleep(this.#pause, undefined, { signal: stopping });
        this.#pause = Math.min(this.#pause * 2, MAX_PAUSE_MS);
        // A postmaster that lost only its guard is still running.
        await this.#postmaster.stop();
        const signal = AbortSignal.any([stopping, AbortSignal.timeout(RESTART_TIMEOUT_MS)]);
        this.#postmaster = await startPostmaster(this.#launch, signal);
        return;
      } catch (error) {
        if (!isStopping()) this.#launch.log(messageOf(error));
      }
    }
  }
}
