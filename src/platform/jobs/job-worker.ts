import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Counter } from 'prom-client';
import { systemCall } from '../access/system-call.js';
import { logger } from '../config/logger.js';
import {
  type ClaimedJob,
  JOB_LEASES,
  JobQueueRepository,
  SCHEDULE_LEASES,
} from './job-queue.repository.js';
import { MetricsRegistry } from '../metrics-registry.js';
import { inSpan, processSpan, traceOfLog, traceparentOf } from '../tracing.js';
import { BackgroundWork } from './background-work.js';
import { retryDelayMs } from './job.js';
import { Leases } from './leases.js';
import { type HandledJob, JobRegistry, type ScheduledJob } from './job-registry.js';

/** How often each instance looks for jobs that other instances sent, and for retries and schedules. */
const POLL_MS = 1_000;

const CLEAN_UP_MS = 3_600_000;

/** The next run of a schedule that has none. */
const NEVER = new Date('9999-12-31T00:00:00Z');

const FAILURE = 'jobs could not be read or stored';
const SCHEDULE_FAILURE = 'a scheduled job could not be started';

/** `retried`: the run failed and is repeated. `failed`: it failed and is not repeated. */
const OUTCOMES = ['succeeded', 'retried', 'failed'] as const;

/** Runs the jobs and the schedules that the modules of a server declare, each run in one instance. */
@Injectable()
export class JobWorker implements OnApplicationBootstrap {
  private readonly running = new Set<ClaimedJob>();
  /** The schedules whose run this instance is taking, which are still due. */
  private readonly taking = new Set<string>();
  private isStarted = false;
  private isPolling = false;
  private isPollRequested = false;
  private readonly outcomes = new Counter({
    name: 'latitude_jobs_total',
    help: 'Runs of jobs by job and outcome: succeeded, retried, failed.',
    labelNames: ['job', 'outcome'],
    registers: [this.metrics],
  });

  constructor(
    private readonly registry: JobRegistry,
    private readonly jobs: JobQueueRepository,
    private readonly leases: Leases,
    private readonly background: BackgroundWork,
    private readonly metrics: MetricsRegistry,
  ) {}

  /** @throws Error if two methods declare the same job, or a schedule is invalid */
  async onApplicationBootstrap(): Promise<void> {
    const { handlers, schedules } = this.registry;
    if (!this.background.isServer) return;
    for (const job of new Set([...handlers.keys(), ...schedules.keys()])) {
      for (const outcome of OUTCOMES) this.outcomes.inc({ job, outcome }, 0);
    }
    const now = await this.jobs.now();
    for (const { name, schedule } of schedules.values()) {
      await this.jobs.registerSchedule(name, schedule.next(now) ?? NEVER);
    }
    this.background.repeat(POLL_MS, () => this.poll(), FAILURE);
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
        await this.startDueSchedules();
        await this.startDueJobs();
      }
    } finally {
      this.isPolling = false;
    }
  }

  /** Starts the runs of schedules that are due and that no other instance has taken. */
  async startDueSchedules(): Promise<void> {
    const names = [...this.registry.schedules.keys()];
    for (const { name, now } of await this.jobs.findDueSchedules(names)) {
      const scheduled = this.registry.schedules.get(name);
      if (!scheduled || this.taking.has(name)) continue;
      const run = () => this.runSchedule(scheduled, now);
      // Sending a job to each organization is short. A method of a module may take longer than the poll can wait.
      if (scheduled.run) this.background.start(run, SCHEDULE_FAILURE);
      else await run();
    }
  }

  /** Takes a run and carries it out, as one work: a run that was taken takes place, also if the server begins to stop. */
  private async runSchedule(scheduled: ScheduledJob, now: Date): Promise<void> {
    const { name, schedule } = scheduled;
    const next = schedule.next(now) ?? NEVER;
    this.taking.add(name);
    const claim = this.jobs.claimSchedule(name, next).finally(() => this.taking.delete(name));
    if (!(await claim)) return;
    await this.leases.during(SCHEDULE_LEASES, { name }, () => this.runTaken(scheduled));
    await this.jobs.releaseSchedule(name, next).catch((error: unknown) => {
      logger.warn({ err: error, job: name }, 'the end of a scheduled job was not stored');
    });
  }

  private async runTaken({ name, run }: ScheduledJob): Promise<void> {
    try {
      if (run) {
        await inSpan(processSpan(name, null), async () => {
          await run();
        });
        this.outcomes.inc({ job: name, outcome: 'succeeded' });
      } else await this.jobs.sendToAllOrganizations(name);
    } catch (error) {
      logger.error({ err: error, job: name }, 'a scheduled job failed');
      this.outcomes.inc({ job: name, outcome: 'failed' });
    }
  }

  private async startDueJobs(): Promise<void> {
    const capacities = Array.from(this.registry.handlers.values(), ({ job }) => {
      const running = Array.from(this.running).filter(({ name }) => name === job.name).length;
      const { name, concurrency, waitsWhileSuspended } = job;
      return { name, free: concurrency - running, waitsWhileSuspended };
    }).filter(({ free }) => free > 0);
    if (capacities.length === 0) return;
    for (const claimed of await this.jobs.claim(capacities)) {
      const handled = this.registry.handlers.get(claimed.name);
      if (!handled) continue;
      if (this.background.isAccepting) {
        this.background.start(() => this.runJob(handled, claimed), FAILURE);
      } else await this.jobs.release(claimed);
    }
  }

  /**
   * Runs the next due job of one kind and of an organization, if there is one.
   * @throws ApiError `query_failed`, `create_failed`
   */
  async runNext(name: string, organizationId: string): Promise<void> {
    const handled = this.registry.handlers.get(name);
    const [claimed] = await this.jobs.claim([{ name, free: 1 }], organizationId);
    if (handled && claimed) await this.runJob(handled, claimed);
  }

  private async runJob(handled: HandledJob, claimed: ClaimedJob): Promise<void> {
    this.running.add(claimed);
    try {
      await this.leases.during(JOB_LEASES, claimed, () => this.attempt(handled, claimed));
    } finally {
      this.running.delete(claimed);
      this.wake();
    }
  }

  private async attempt(handled: HandledJob, claimed: ClaimedJob): Promise<void> {
    const { id, name, payload, attempts, traceparent: sent } = claimed;
    try {
      if (attempts > handled.job.retries + 1) throw new ProcessEnded();
      const call = systemCall(claimed, { id, name: `job ${name}` });
      await inSpan(processSpan(name, sent), async (span) => {
        const traceparent = traceparentOf(span, sent);
        await handled.run({ ...call, traceparent }, payload, { id, attempt: attempts });
      });
    } catch (error) {
      await this.storeFailure(handled, claimed, error);
      return;
    }
    await this.jobs.remove(claimed);
    this.outcomes.inc({ job: name, outcome: 'succeeded' });
  }

  private async storeFailure(
    { job, keepsFailures }: HandledJob,
    claimed: ClaimedJob,
    error: unknown,
  ): Promise<void> {
    const { name, organization_id, id, attempts } = claimed;
    const type = error instanceof Error ? error.name : typeof error;
    const about = { job: name, id, organization: organization_id, attempt: attempts };
    const line = { err: error, ...about, ...traceOfLog(claimed.traceparent) };
    if (attempts <= job.retries) {
      logger.warn(line, 'a job failed and will be retried');
      await this.jobs.retry(claimed, type, retryDelayMs(job, attempts));
      this.outcomes.inc({ job: name, outcome: 'retried' });
      return;
    }
    logger.error(line, 'a job failed and will not be retried');
    await (keepsFailures ? this.jobs.fail(claimed, type) : this.jobs.remove(claimed));
    this.outcomes.inc({ job: name, outcome: 'failed' });
  }
}

/** The process ended during the last attempt of a job, or the end of the attempt could not be stored. */
class ProcessEnded extends Error {
  override readonly name = 'ProcessEnded';
}
