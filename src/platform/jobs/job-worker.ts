import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { systemCall } from '../access/system-call.js';
import { logger } from '../config/logger.js';
import { type ClaimedJob, JobWorkerRepository } from '../data/jobs/job-worker.repository.js';
import { BackgroundWork } from './background-work.js';
import { retryDelayMs } from './job.js';
import { JobOutcomes } from './job-outcomes.js';
import { type HandledJob, JobRegistry } from './job-registry.js';
import { JobScheduler } from './job-scheduler.js';

/** How often each instance looks for jobs that other instances sent, and for retries and schedules. */
const POLL_MS = 1_000;

/** How often leases are extended: several times in the 20 seconds that they last. */
const HEARTBEAT_MS = 5_000;

const CLEAN_UP_MS = 3_600_000;

const FAILURE = 'jobs could not be read or stored';

/** Runs jobs in a server whose modules declare some. Otherwise it sends no statement. */
@Injectable()
export class JobWorker implements OnApplicationBootstrap {
  private readonly running = new Set<ClaimedJob>();
  private isStarted = false;
  private isPolling = false;
  private isPollRequested = false;

  constructor(
    private readonly registry: JobRegistry,
    private readonly scheduler: JobScheduler,
    private readonly jobs: JobWorkerRepository,
    private readonly background: BackgroundWork,
    private readonly outcomes: JobOutcomes,
  ) {}

  /** @throws Error if two methods declare the same job, or a schedule is invalid */
  async onApplicationBootstrap(): Promise<void> {
    const names = new Set([...this.registry.handlers.keys(), ...this.registry.schedules.keys()]);
    if (names.size === 0 || !this.background.isServer) return;
    for (const name of names) this.outcomes.add(name);
    await this.scheduler.register();
    this.background.repeat(POLL_MS, () => this.poll(), FAILURE);
    // After the drain, a stop waits for running jobs for a shorter time than a lease that was just extended lasts.
    const extend = () => this.extendLeases();
    this.background.repeat(HEARTBEAT_MS, extend, FAILURE, { whileDraining: true });
    this.background.repeat(CLEAN_UP_MS, () => this.jobs.removeOldFailures(), FAILURE);
    this.isStarted = true;
  }

  /** Looks for jobs at once. */
  wake(): void {
    if (this.isStarted) this.background.start(() => this.poll(), FAILURE);
  }

  /** Looks for due schedules and jobs. If it is called while it does, it looks once more. */
  private async poll(): Promise<void> {
    this.isPollRequested = true;
    if (this.isPolling) return;
    this.isPolling = true;
    try {
      while (this.isPollRequested && this.background.isAccepting) {
        this.isPollRequested = false;
        await this.scheduler.startDue();
        await this.startDueJobs();
      }
    } finally {
      this.isPolling = false;
    }
  }

  private async startDueJobs(): Promise<void> {
    const capacities = Array.from(this.registry.handlers.values(), ({ job }) => {
      const running = Array.from(this.running).filter(({ name }) => name === job.name).length;
      return { name: job.name, free: job.concurrency - running };
    }).filter(({ free }) => free > 0);
    if (capacities.length === 0) return;
    for (const claimed of await this.jobs.claim(capacities)) {
      const handled = this.registry.handlers.get(claimed.name);
      if (!handled) continue;
      if (this.background.isAccepting) {
        this.background.start(() => this.run(handled, claimed), FAILURE);
      } else await this.jobs.release(claimed);
    }
  }

  private async run(handled: HandledJob, claimed: ClaimedJob): Promise<void> {
    this.running.add(claimed);
    try {
      await this.attempt(handled, claimed);
    } finally {
      this.running.delete(claimed);
      this.wake();
    }
  }

  private async attempt(handled: HandledJob, claimed: ClaimedJob): Promise<void> {
    const { id, name, payload, attempts } = claimed;
    try {
      if (attempts > handled.job.retries + 1) throw new ProcessEnded();
      const call = systemCall(claimed, { id, name: `job ${name}` });
      await handled.run(call, payload, { id, attempt: attempts });
    } catch (error) {
      await this.storeFailure(handled, claimed, error);
      return;
    }
    await this.jobs.remove(claimed);
    this.outcomes.count(name, 'succeeded');
  }

  private async storeFailure(
    { job, keepsFailures }: HandledJob,
    claimed: ClaimedJob,
    error: unknown,
  ): Promise<void> {
    const { name, organization_id, id, attempts } = claimed;
    const type = error instanceof Error ? error.name : typeof error;
    const line = { err: error, job: name, id, organization: organization_id, attempt: attempts };
    if (attempts <= job.retries) {
      logger.warn(line, 'a job failed and will be retried');
      await this.jobs.retry(claimed, type, retryDelayMs(job, attempts));
      this.outcomes.count(name, 'retried');
      return;
    }
    logger.error(line, 'a job failed and will not be retried');
    await (keepsFailures ? this.jobs.fail(claimed, type) : this.jobs.remove(claimed));
    this.outcomes.count(name, 'failed');
  }

  private async extendLeases(): Promise<void> {
    await this.scheduler.extendLeases();
    if (this.running.size > 0) await this.jobs.extend([...this.running]);
  }
}

/** The process ended during the last attempt of a job, or the end of the attempt could not be stored. */
class ProcessEnded extends Error {
  override readonly name = 'ProcessEnded';
}
