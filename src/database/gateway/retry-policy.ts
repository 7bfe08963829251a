import { ApiError } from '../../errors/api-error.js';
import type { ErrorCode } from '../../errors/error-catalogue.js';
import { SerializationFailure, LockTimeout } from '../connection/driver-error.js';
import type { Load } from './load.js';
import type { Deadline, TimeBudget } from './time-budget.js';
import { Bulkhead } from './bulkhead.js';

const MOST_WAITING = 256;

/** The options of one attempt. */
export interface AttemptOptions {
  readonly deadline: Deadline;
  /** Whether it may wait for locks, because it keeps no one else waiting. */
  readonly mayWaitForLocks: boolean;
}

/** Attempts operations again where that may help. */
export class RetryPolicy {
  private readonly bulkhead: Bulkhead;

  /** @param places connections that may wait for locks */
  constructor(
    private readonly timeBudget: TimeBudget,
    private readonly load: Load,
    places: number,
  ) {
    this.bulkhead = new Bulkhead(places, MOST_WAITING);
  }

  /**
   * Attempts once more what PostgreSQL broke off, and in the waiting room what has to wait for a lock.
   * @param failure what is thrown where the waiting room had no place in time
   */
  async run<T>(failure: ErrorCode, attempt: (options: AttemptOptions) => Promise<T>): Promise<T> {
    const deadline = this.timeBudget.startDeadline();
    const attemptTwice = async (mayWaitForLocks: boolean) => {
      this.load.begin();
      try {
        return await retryOnce(() => attempt({ deadline, mayWaitForLocks }), deadline);
      } finally {
        this.load.end();
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

/** A deadlock or a failed serialization is no one's fault and is over by now. */
async function retryOnce<T>(work: () => Promise<T>, deadline: Deadline): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof SerializationFailure) || deadline.retryDelayBudgetMs < 0) throw error;
    return work();
  }
}
