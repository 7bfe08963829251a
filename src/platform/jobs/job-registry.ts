import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import {
  assertSingleton,
  decoratedMethods,
  type DecoratedMethod,
} from '../discovery/decorated-methods.js';
import { defineJob, type JobDefinition } from './job.js';
import {
  JOB_HANDLER,
  type OrganizationJobOptions,
  SCHEDULED_JOB,
  type ScheduledJobOptions,
} from './job.decorator.js';
import { type Schedule, scheduleOf } from './schedule.js';

type Run = DecoratedMethod<unknown>['run'];

/** A kind of job that this application runs. */
export interface HandledJob {
  readonly job: JobDefinition<never>;
  readonly run: Run;
  /** Whether failed jobs are kept. A scheduled job runs again anyway. */
  readonly keepsFailures: boolean;
}

/** A scheduled job. Without `run`, each run sends a job to every organization. */
export interface ScheduledJob {
  readonly name: string;
  readonly schedule: Schedule;
  readonly run: Run | undefined;
}

/** The jobs that the modules of the application declare. */
@Injectable()
export class JobRegistry {
  private found: ReturnType<JobRegistry['discover']> | undefined;

  constructor(private readonly discovery: DiscoveryService) {}

  /** @throws Error if two methods have the same job, or a schedule is invalid */
  get handlers(): ReadonlyMap<string, HandledJob> {
    return (this.found ??= this.discover()).handlers;
  }

  /** @throws Error if two methods have the same job, or a schedule is invalid */
  get schedules(): ReadonlyMap<string, ScheduledJob> {
    return (this.found ??= this.discover()).schedules;
  }

  private discover() {
    const handlers = new Map<string, HandledJob>();
    const schedules = new Map<string, ScheduledJob>();
    const assertNew = (name: string, method: DecoratedMethod<unknown>) => {
      assertSingleton(`The job ${name}`, method);
      if (handlers.has(name) || schedules.has(name))
        throw new Error(`Two methods are declared for the job ${name}`);
    };
    const methods = decoratedMethods<JobDefinition<never>>(this.discovery, JOB_HANDLER);
    for (const method of methods) {
      const { declaration: job, run } = method;
      assertNew(job.name, method);
      handlers.set(job.name, { job, run, keepsFailures: true });
    }
    type Declaration = ScheduledJobOptions | OrganizationJobOptions;
    for (const method of decoratedMethods<Declaration>(this.discovery, SCHEDULED_JOB)) {
      const { declaration, run } = method;
      const { name } = declaration;
      assertNew(name, method);
      const schedule = scheduleOf(declaration);
      const forEach = 'perOrganization' in declaration && declaration.perOrganization;
      schedules.set(name, { name, schedule, run: forEach ? undefined : run });
      if (!forEach) continue;
      const job = defineJob<never>(name, { retries: 0, ...declaration });
      handlers.set(name, { job, run, keepsFailures: false });
    }
    return { handlers, schedules };
  }
}
