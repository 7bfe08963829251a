import { ApiError } from '../../errors/api-error.js';
import type { ErrorCode } from '../../errors/error-catalogue.js';
import {
  ConnectionFailure,
  LockTimeout,
  SerializationFailure,
} from '../connection/driver-error.js';
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

/** Retries operations that failed because of concurrent transactions, and reads whose connection was lost. */
export class RetryPolicy {
  private readonly bulkhead: Bulkhead;

  /**
   * @param maxWaiting number of connections that may wait for locks
   * @param onLost called before a read is retried on another connection
   */
  constructor(
    private readonly timeBudget: TimeBudget,
    private readonly limit: ConcurrencyLimit,
    maxWaiting: number,
    private readonly onLost: () => void,
  ) {
    this.bulkhead = new Bulkhead(maxWaiting, MAX_QUEUE);
  }

  /**
   * Runs an operation. It is retried once after a serialization failure or deadlock, and inside the
   * bulkhead after a lock timeout. A read is also retried once after the loss of its connection.
   * @param failure code of the error if the bulkhead has no free slot in time
   */
  async run<T>(
    failure: ErrorCode,
    attempt: (options: AttemptOptions) => Promise<T>,
    { isRead = false } = {},
  ): Promise<T> {
    const deadline = this.timeBudget.startDeadline();
    const mayRetry = (error: unknown) => {
      if (error instanceof SerializationFailure) return true;
      if (!isRead || !(error instanceof ConnectionFailure)) return false;
      this.onLost();
      return true;
    };
    const attemptTwice = async (mayWaitForLocks: boolean) => {
      const startedAt = this.limit.acquire();
      try {
        return await retryOnce(() => attempt({ deadline, mayWaitForLocks }), deadline, mayRetry);
      } finally {
        // A wait for a lock says nothing about the load.
        this.limit.release(mayWaitForLocks ? undefined : startedAt);
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
 * Runs work again if it fails with an error after which a retry may succeed at once: a deadlock or
 * serialization failure, whose conflict has ended, or the loss of a connection.
 */
export async function retryOnce<T>(
  work: () => Promise<T>,
  deadline: Deadline,
  mayRetry: (error: unknown) => boolean,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (deadline.retryDelayBudgetMs < 0 || !mayRetry(error)) throw error;
    return work();
  }
}
