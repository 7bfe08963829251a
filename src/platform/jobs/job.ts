import { type Duration, millisecondsOf } from '../config/duration.js';

/** How failed runs of a job are repeated, and how many runs an instance has at a time. */
export interface JobOptions {
  /** How often a failed run is repeated. Default: 10. */
  readonly retries?: number;
  /**
   * The delay of the first retry, which doubles with each retry up to `maxDelay`. Default: `10s`
   * and `1d`.
   */
  readonly backoff?: { readonly delay?: Duration; readonly maxDelay?: Duration };
  /** How many jobs of this name an instance runs at the same time. Default: 5. */
  readonly concurrency?: number;
  /** Whether it waits while its organization is suspended, such as a job that sends something. Default: false. */
  readonly waitsWhileSuspended?: boolean;
}

/** A kind of job with a payload of type `P`. */
export interface JobDefinition<P> {
  readonly name: string;
  readonly retries: number;
  readonly delayMs: number;
  readonly maxDelayMs: number;
  readonly concurrency: number;
  readonly waitsWhileSuspended: boolean;
  /** Carries the type of the payload. It is never set. */
  readonly payload?: (payload: P) => P;
}

/** What the handler of a job knows about its run. */
export interface JobRun {
  /** The same for all attempts: pass it to other services as their idempotency key. */
  readonly id: string;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
}

const NAME = /^[a-z0-9][a-z0-9._-]{0,99}$/i;

/**
 * Declares a job that modules can send.
 * @param name unique in the application, such as `acme.send-message`
 * @throws Error if the name or an option is not valid
 */
export function defineJob<P extends object>(
  name: string,
  { retries = 10, backoff = {}, concurrency = 5, waitsWhileSuspended = false }: JobOptions = {},
): JobDefinition<P> {
  assertJobName(name);
  const { delay = '10s', maxDelay = '1d' } = backoff;
  if (!Number.isInteger(retries) || retries < 0) {
    throw new Error(`The retries of job ${name} must be a whole number from 0`);
  }
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    throw new Error(`The concurrency of job ${name} must be a whole number from 1`);
  }
  return {
    name,
    retries,
    concurrency,
    waitsWhileSuspended,
    delayMs: millisecondsOf(delay, `backoff.delay of job ${name}`),
    maxDelayMs: millisecondsOf(maxDelay, `backoff.maxDelay of job ${name}`),
  };
}

/** @throws Error if the name is not valid */
export function assertJobName(name: string): void {
  if (NAME.test(name)) return;
  throw new Error(
    `"${name}" is not a valid name of a job: use 1 to 100 letters, digits, dots, hyphens and underscores`,
  );
}

/**
 * The time until the next attempt, with jitter, so that those that failed together are not retried all at once.
 * @param options `growth` is the factor of each further delay; default: 2
 */
export function retryDelayMs(
  {
    delayMs,
    maxDelayMs,
    growth = 2,
  }: Pick<JobDefinition<never>, 'delayMs' | 'maxDelayMs'> & { readonly growth?: number },
  failedAttempts: number,
  random: number = Math.random(),
): number {
  const delay = Math.min(maxDelayMs, delayMs * growth ** (failedAttempts - 1));
  return Math.round(delay * (0.75 + random / 4));
}
