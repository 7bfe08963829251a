import { Injectable } from '@nestjs/common';
import { logger } from '../config/logger.js';
import { JobSchedulesRepository } from '../data/jobs/job-schedules.repository.js';
import { JobWorkerRepository } from '../data/jobs/job-worker.repository.js';
import { BackgroundWork } from './background-work.js';
import { JobOutcomes } from './job-outcomes.js';
import { JobRegistry, type ScheduledJob } from './job-registry.js';

/** The next run of a schedule that has none. */
const NEVER = new Date('9999-12-31T00:00:00Z');

const FAILURE = 'a scheduled job could not be started';

/** Runs scheduled jobs, each run in one instance. */
@Injectable()
export class JobScheduler {
  /** The names of the schedules that run in this instance. */
  private readonly running = new Set<string>();
  /** Those that this instance is taking, which are still due. */
  private readonly taking = new Set<string>();

  constructor(
    private readonly registry: JobRegistry,
    private readonly schedules: JobSchedulesRepository,
    private readonly jobs: JobWorkerRepository,
    private readonly background: BackgroundWork,
    private readonly outcomes: JobOutcomes,
  ) {}

  /** Stores the next run of each schedule. */
  async register(): Promise<void> {
    if (this.registry.schedules.size === 0) return;
    const now = await this.schedules.now();
    for (const { name, schedule } of this.registry.schedules.values()) {
      await this.schedules.register(name, schedule.next(now) ?? NEVER);
    }
  }

  /** Starts the runs that are due and that no other instance has taken. */
  async startDue(): Promise<void> {
    const names = [...this.registry.schedules.keys()];
    if (names.length === 0) return;
    for (const { name, now } of await this.schedules.findDue(names)) {
      const scheduled = this.registry.schedules.get(name);
      if (!scheduled || this.taking.has(name)) continue;
      // Sending a job to each organization is short. A method of a module may take longer than the poll can wait.
      if (scheduled.run) this.background.start(() => this.run(scheduled, now), FAILURE);
      else await this.run(scheduled, now);
    }
  }

  /** Extends the leases of running schedules. */
  async extendLeases(): Promise<void> {
    if (this.running.size > 0) await this.schedules.extend([...this.running]);
  }

  /** Takes a run and carries it out, as one work: a run that was taken takes place, also if the server begins to stop. */
  private async run({ name, run, schedule }: ScheduledJob, now: Date): Promise<void> {
    const next = schedule.next(now) ?? NEVER;
    this.taking.add(name);
    const claim = this.schedules.claim(name, next).finally(() => this.taking.delete(name));
    if (!(await claim)) return;
    this.running.add(name);
    try {
      if (run) {
        await run();
        this.outcomes.count(name, 'succeeded');
      } else await this.jobs.sendToAllOrganizations(name);
    } catch (error) {
      logger.error({ err: error, job: name }, 'a scheduled job failed');
      this.outcomes.count(name, 'failed');
    }
    this.running.delete(name);
    await this.schedules.release(name, next).catch((error: unknown) => {
      logger.warn({ err: error, job: name }, 'the end of a scheduled job was not stored');
    });
  }
}
