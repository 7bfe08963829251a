import { ApiError } from '../../errors/api-error.js';
import type { ErrorCode } from '../../errors/error-catalogue.js';
import { SerializationFailure, LockTimeout } from '../connection/driver-error.js';
import type { ConcurrencyLimit } from './concurrency-limit.js';
import type { Deadline, TimeBudget } from './time-budget.js';
import { Bulkhead } from './bulkhead.js';

/** Maximum number of operations that queue for the bulkhead. */
const MAX_QUEUE = 256;

/** The options of one attempt. */
export interface AttemptOptions {
  readonly deadline: Deadline;
  /** Whether statements may wait long for locks. Only attempts inside the bulkhead may. */
  readonly mayWaitForLocks: boolean;
}

/** Retries operations that failed because of concurrent transactions. */
export class RetryPolicy {
  private readonly bulkhead: Bulkhead;

  /** @param maxWaiting number of connections that may wait for locks */
  constructor(
    private readonly timeBudget: TimeBudget,
    private readonly limit: ConcurrencyLimit,
    maxWaiting: number,
  ) {
    this.bulkhead = new Bulkhead(maxWaiting, MAX_QUEUE);
  }

  /**
   * Runs an operation. It is retried once after a serialization failure or deadlock, and inside the
   * bulkhead after a lock timeout.
   * @param failure code of the error if the bulkhead has no free slot in time
   */
  async run<T>(failure: ErrorCode, attempt: (options: AttemptOptions) => Promise<T>): Promise<T> {
    const deadline = this.timeBudget.startDeadline();
    const attemptTwice = async (mayWaitForLocks: boolean) => {
      this.limit.acquire();
      try {
        return await retryOnce(() => attempt({ deadline, mayWaitForLocks }), deadline);
      } finally {
        this.limit.release();
      }
    };
    try {
      return await attemptTwice(false);
    } catch (error) {
      if (!(error instanceof LockTimeout)) throw error;
      return this.bulkhead.run(
        deadline.retryDelayBudgetMs,
        () => attemptTwice(true),
        () => new ApiError(failure, { cause: error }),
      );
    }
  }
}

/**
 * When PostgreSQL reports a deadlock or serialization failure, the conflict has ended, so a retry may
 * succeed.
 */
async function retryOnce<T>(work: () => Promise<T>, deadline: Deadline): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SerializationFailure) || deadline.retryDelayBudgetMs < 0) throw error;
    return work();
  }
}
