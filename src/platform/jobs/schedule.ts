import { Cron } from 'croner';
import { millisecondsOf } from '../config/duration.js';
import { assertJobName } from './job.js';
import type { ScheduledJobOptions } from './job.decorator.js';

/** The times at which a scheduled job runs. */
export interface Schedule {
  /** The first run after a time; null if there is none. */
  next(after: Date): Date | null;
}

/** @throws Error if the interval, the expression or the time zone is not valid */
export function scheduleOf(options: ScheduledJobOptions): Schedule {
  assertJobName(options.name);
  if ('every' in options) {
    const every = millisecondsOf(options.every, `interval of job ${options.name}`);
    return { next: (after) => new Date((Math.floor(after.getTime() / every) + 1) * every) };
  }
  const { name, cron, timeZone: timezone = 'UTC' } = options;
  try {
    const expression = new Cron(cron, { timezone, paused: true });
    // The time zone is only checked here.
    expression.nextRun();
    return { next: (after) => expression.nextRun(after) };
  } catch (error) {
    const reason = (error as Error).message;
    throw new Error(`The schedule of job ${name} is invalid: ${reason}`, { cause: error });
  }
}
