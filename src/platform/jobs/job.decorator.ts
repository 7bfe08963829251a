import { SetMetadata } from '@nestjs/common';
import type { Duration } from '../config/duration.js';
import type { Call } from '../data/call.js';
import type { JobDefinition, JobOptions, JobRun } from './job.js';

/** When a scheduled job runs. */
type Times =
  | {
      /** The interval between runs. Runs begin at its multiples, counted from 1970-01-01T00:00Z. */
      readonly every: Duration;
    }
  | {
      /** A cron expression with five or six fields. */
      readonly cron: string;
      /** The time zone of the expression, such as `Europe/Berlin`. Default: UTC. */
      readonly timeZone?: string;
    };

/** A scheduled job. */
export type ScheduledJobOptions = Times & {
  /** Unique in the application, such as `acme.expire-offers`. */
  readonly name: string;
};

/** A scheduled job that runs for each organization, with retries. */
export type OrganizationJobOptions = ScheduledJobOptions &
  JobOptions & { readonly perOrganization: true };

export const JOB_HANDLER = Symbol('job handler');
export const SCHEDULED_JOB = Symbol('scheduled job');

/** A decorator of methods with at most these parameters. */
type DecoratorOf<P extends unknown[]> = <H extends (...args: P) => unknown>(
  target: object,
  name: string | symbol,
  handler: TypedPropertyDescriptor<H>,
) => void;

/**
 * Marks the method of a provider that runs the jobs of this kind. It is called at least once for each job,
 * with a `Call` of the organization, the payload and the `JobRun` (job id and attempt number). If it
 * throws, the job is retried.
 */
export function JobHandler<P>(
  job: JobDefinition<P>,
): DecoratorOf<[call: Call, payload: P, run: JobRun]> {
  return SetMetadata(JOB_HANDLER, job);
}

/**
 * Marks a method of a provider that runs on a schedule, once over all instances. With
 * `perOrganization` it runs once for each organization, with a `Call`.
 */
export function Job(options: OrganizationJobOptions): DecoratorOf<[call: Call]>;
export function Job(
  options: ScheduledJobOptions & { readonly perOrganization?: false },
): DecoratorOf<[]>;
export function Job(options: ScheduledJobOptions): MethodDecorator {
  return SetMetadata(SCHEDULED_JOB, options);
}
