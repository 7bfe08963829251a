import { setTimeout as after } from 'node:timers/promises';
import { logger } from '../config/logger.js';
import type { ReadyWorker, WorkerOptions } from './messages.js';
import { type WorkerListener, WorkerProcess } from './worker-process.js';

const MIN_PAUSE_MS = 100;
const MAX_PAUSE_MS = 30_000;

/** If a worker ran for this long before it died, the pause before its replacement is reset. */
const HEALTHY_AFTER_MS = 60_000;

/** Keeps a number of workers running. */
export class WorkerPool {
  private readonly workers = new Set<WorkerProcess>();
  private readonly stopping = new AbortController();
  private restarts = Promise.resolve();
  private isStarted = false;
  private pause = MIN_PAUSE_MS;

  /** @param onEnded called when a worker has ended */
  constructor(
    private readonly size: number,
    private readonly options: Omit<WorkerOptions, 'role'>,
    private readonly listener: WorkerListener,
    private readonly onEnded: (worker: WorkerProcess) => void,
  ) {}

  /** The workers that accept connections or complete their requests. */
  get ready(): WorkerProcess[] {
    return [...this.workers].filter(({ isReady }) => isReady);
  }

  /**
   * Starts the workers. The first one migrates the database before the others start.
   * @throws Error whose message is meant for the user if a worker cannot start
   */
  async start(): Promise<ReadyWorker> {
    const first = await this.fork('first').ready;
    if (!this.isStopping) {
      const others = Array.from({ length: this.size - 1 }, () => this.fork('further'));
      await Promise.all(others.map(({ ready }) => ready));
    }
    this.isStarted = true;
    return first;
  }

  /** Replaces the workers one after another. A restart begins when the previous one has ended. */
  restart(): void {
    if (!this.isStarted || this.isStopping) {
      logger.warn('SIGUSR2 is ignored while the workers start or stop');
      return;
    }
    this.restarts = this.restarts.then(() => this.restartAll());
  }

  /** Ends all workers, as on this signal. They complete their requests first. */
  async stop(signal: NodeJS.Signals): Promise<void> {
    this.stopping.abort();
    await Promise.all([...this.workers].map((worker) => worker.end(signal)));
  }

  private get isStopping(): boolean {
    return this.stopping.signal.aborted;
  }

  private fork(role: WorkerOptions['role']): WorkerProcess {
    const worker = new WorkerProcess({ ...this.options, role }, this.listener);
    this.workers.add(worker);
    void worker.ended.then((how) => {
      this.workers.delete(worker);
      this.onEnded(worker);
      if (!worker.isReady || worker.isEnding || this.isStopping) return;
      logger.error(`worker ${worker.pid} ended (${how}): starting another one`);
      void this.replaceDead(worker);
    });
    return worker;
  }

  private async replaceDead({ startedAt }: WorkerProcess): Promise<void> {
    if (performance.now() - startedAt > HEALTHY_AFTER_MS) this.pause = MIN_PAUSE_MS;
    const { signal } = this.stopping;
    do {
      await after(this.pause, undefined, { signal }).catch(() => undefined);
      this.pause = Math.min(this.pause * 2, MAX_PAUSE_MS);
    } while (!this.isStopping && !(await this.startOne('further')));
  }

  private async restartAll(): Promise<void> {
    const isComplete = await this.restartOnce();
    if (isComplete) logger.info('all workers are restarted');
    else if (!this.isStopping) logger.error('the restart failed: the remaining workers continue');
  }

  /** @returns whether all workers that run now are replaced */
  private async restartOnce(): Promise<boolean> {
    const old = this.ready.filter(({ isEnding }) => !isEnding);
    logger.info(`SIGUSR2: restarting ${old.length} workers, one after another`);
    for (const worker of old) {
      // A worker that died has already been replaced.
      if (!this.workers.has(worker)) continue;
      if (this.isStopping || !(await this.startOne('successor'))) return false;
      await worker.end('replace');
      logger.info(`worker ${worker.pid} has completed its requests and ended`);
    }
    return !this.isStopping;
  }

  /** @returns whether a new worker is ready */
  private async startOne(role: WorkerOptions['role']): Promise<boolean> {
    let worker: WorkerProcess | undefined;
    try {
      worker = this.fork(role);
      await worker.ready;
      logger.info(`worker ${worker.pid} is ready`);
      return true;
    } catch (error) {
      if (!this.isStopping) {
        const name = worker?.pid === undefined ? 'a worker' : `worker ${worker.pid}`;
        logger.error(`${name} could not start: ${(error as Error).message}`);
      }
      await worker?.kill();
      return false;
    }
  }
}
