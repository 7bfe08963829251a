import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Gauge } from 'prom-client';
import { MetricsRegistry } from '../metrics-registry.js';
import { BackgroundWork } from './background-work.js';
import { JobQueueRepository } from './job-queue.repository.js';
import { JobRegistry } from './job-registry.js';

const MEASURE_MS = 10_000;

/** Measures how late the jobs of all instances are. */
@Injectable()
export class JobBacklog implements OnApplicationBootstrap {
  private readonly oldest = new Gauge({
    name: 'latitude_jobs_oldest_due_seconds',
    help: 'For how long the oldest job that no instance has taken has been due, by job.',
    labelNames: ['job'],
    registers: [this.metrics],
  });

  constructor(
    private readonly registry: JobRegistry,
    private readonly jobs: JobQueueRepository,
    private readonly background: BackgroundWork,
    private readonly metrics: MetricsRegistry,
  ) {}

  onApplicationBootstrap(): void {
    if (!this.background.isServer) return;
    for (const job of this.registry.handlers.keys()) this.oldest.set({ job }, 0);
    this.background.repeat(
      MEASURE_MS,
      () => this.measure(),
      'the age of waiting jobs was not measured',
    );
  }

  async measure(): Promise<void> {
    const jobs = [...this.registry.handlers.keys()];
    const late = await this.jobs.oldestDue(jobs);
    const seconds = new Map(late.map((job) => [job.name, job.seconds]));
    for (const job of jobs) this.oldest.set({ job }, seconds.get(job) ?? 0);
  }
}
