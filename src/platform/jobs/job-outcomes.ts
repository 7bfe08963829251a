import { Injectable } from '@nestjs/common';
import { Counter } from 'prom-client';
import { MetricsRegistry } from '../metrics-registry.js';

/** `retried`: the run failed and is repeated. `failed`: it failed and is not repeated. */
export type JobOutcome = 'succeeded' | 'retried' | 'failed';

const OUTCOMES: readonly JobOutcome[] = ['succeeded', 'retried', 'failed'];

/** Counts the runs of jobs in this instance by outcome. */
@Injectable()
export class JobOutcomes {
  private readonly counter = new Counter({
    name: 'latitude_jobs_total',
    help: 'Runs of jobs by job and outcome: succeeded, retried, failed.',
    labelNames: ['job', 'outcome'],
    registers: [this.registry],
  });

  constructor(private readonly registry: MetricsRegistry) {}

  /** Makes the counts of a job start at 0. */
  add(job: string): void {
    for (const outcome of OUTCOMES) this.counter.inc({ job, outcome }, 0);
  }

  count(job: string, outcome: JobOutcome): void {
    this.counter.inc({ job, outcome });
  }
}
