import { Injectable } from '@nestjs/common';
import type { Duration } from '../config/duration.js';
import { TenantDatabase } from '../data/gateway/tenant-database.js';
import type { TenantCall } from '../data/call.js';
import { JobQueueRepository } from './job-queue.repository.js';
import { millisecondsOf } from '../config/duration.js';
import type { JobDefinition } from './job.js';
import { JobRegistry } from './job-registry.js';
import { JobWorker } from './job-worker.js';

export interface SendOptions {
  /** While a job of the same name with this key waits or runs, another one is not stored. */
  readonly key?: string;
  /**
   * With `key`: a waiting job is moved to the time of this one if that is earlier, and a running job runs
   * again after it has ended. A run therefore begins after all writes before `send`.
   */
  readonly runAgain?: boolean;
  /** Jobs of the same name with this key run one after the other, in the order in which they were sent. */
  readonly orderingKey?: string;
  /** The time until the first run. Default: none. */
  readonly delay?: Duration;
}

/** Sends jobs, which run after the response, with retries. */
@Injectable()
export class JobsService {
  constructor(
    private readonly queue: JobQueueRepository,
    private readonly database: TenantDatabase,
    private readonly registry: JobRegistry,
    private readonly worker: JobWorker,
  ) {}

  /**
   * Stores a job. In a transaction, it is stored only if the transaction commits.
   * @param call for the organization; inside a transaction, the job is sent with its commit
   * @param payload becomes JSON; give ids instead of records, which can change until the job runs
   * @returns the id of the job, which with `runAgain` can be that of an earlier one; undefined if a job with
   *    the same key waits or runs
   * @throws ApiError `create_failed`
   * @throws Error if no method has `@JobHandler(job)`
   */
  async send<P>(
    call: TenantCall,
    job: JobDefinition<P>,
    payload: P,
    { delay, ...options }: SendOptions = {},
  ): Promise<string | undefined> {
    const { name } = job;
    if (!this.registry.handlers.has(name)) throw new Error(`No method handles the job ${name}`);
    const id = await this.queue.insert(call, {
      ...options,
      name,
      payload: JSON.stringify(payload),
      delayMs: delay === undefined ? 0 : millisecondsOf(delay, `delay of job ${name}`),
    });
    if (id === undefined) return undefined;
    await this.database.afterCommit(call, () => {
      this.worker.wake();
    });
    return id;
  }

  /**
   * Runs the next due job of one kind and of the organization in this process, if there is one. A command does so, because
   * only servers run jobs otherwise.
   * @throws ApiError `query_failed`, `create_failed`
   */
  runNext<P>({ tenant }: TenantCall, { name }: JobDefinition<P>): Promise<void> {
    return this.worker.runNext(name, tenant.id);
  }
}
