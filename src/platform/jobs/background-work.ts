import { setTimeout as after } from 'node:timers/promises';
import { type BeforeApplicationShutdown, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { type AbstractHttpAdapter, HttpAdapterHost } from '@nestjs/core';
import { logger } from '../config/logger.js';
import { inTrace } from '../tracing.js';
import { repeat as repeatEvery } from '../config/repeated-work.js';

/** How long a stop waits for running work. The rest of the shutdown needs time, too. */
const DRAIN_MS = 10_000;

/** The HTTP adapter of a server. */
type ServerAdapter = AbstractHttpAdapter & { readonly isDraining: boolean };

/** Runs the background work of a server until the server stops. */
@Injectable()
export class BackgroundWork implements OnModuleDestroy, BeforeApplicationShutdown {
  private readonly stops: (() => void)[] = [];
  private readonly stopsAfterRunningWork: (() => void)[] = [];
  private readonly running = new Set<Promise<unknown>>();

  constructor(private readonly host: HttpAdapterHost<ServerAdapter>) {}

  /** Whether this is a server. A command has no HTTP adapter. */
  get isServer(): boolean {
    return Boolean(this.host.httpAdapter);
  }

  /** Whether work may start: in a server that is not stopping. */
  get isAccepting(): boolean {
    return this.isServer && !this.host.httpAdapter.isDraining;
  }

  /**
   * Starts work, if work may start.
   * @param failure the message of the log line if the work fails
   */
  start(work: () => unknown, failure: string): void {
    if (this.isAccepting) void this.track(work, failure);
  }

  /**
   * Runs work again and again, with a pause before each run, until the server stops.
   * @param forRunningWork whether it also runs until running work has ended, and in a command: work on which running jobs
   * depend, such as the extension of their leases
   */
  repeat(
    pauseMs: number,
    work: () => unknown,
    failure: string,
    { forRunningWork = false } = {},
  ): void {
    if (!this.isServer && !forRunningWork) return;
    const run = () => (forRunningWork || this.isAccepting ? this.track(work, failure) : undefined);
    const stops = forRunningWork ? this.stopsAfterRunningWork : this.stops;
    stops.push(repeatEvery(pauseMs, run, failure));
  }

  onModuleDestroy(): void {
    for (const stop of this.stops) stop();
  }

  /** Waits for running work. */
  async beforeApplicationShutdown(): Promise<void> {
    const tooLate = after(DRAIN_MS, undefined, { ref: false });
    await Promise.race([Promise.allSettled(this.running), tooLate]);
    for (const stop of this.stopsAfterRunningWork) stop();
    const { size } = this.running;
    if (size > 0) logger.warn({ jobs: size }, 'the server stops although jobs are still running');
  }

  /** Runs work, for whose end a stop waits, and logs its failure. */
  private track(work: () => unknown, failure: string): Promise<void> {
    // Without the trace of the request that started it: the work also serves other requests.
    const run = inTrace(undefined, async () => {
      await work();
    })
      .catch((error: unknown) => {
        logger.warn({ err: error }, failure);
      })
      .finally(() => this.running.delete(run));
    this.running.add(run);
    return run;
  }
}
