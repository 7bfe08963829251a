import { MAX_DELAY_MS } from '../../config/timeout.js';

/**
 * Limits the number of operations that wait for locks, so that they never use all connections of the pool.
 */
export class Bulkhead {
  private readonly queue = new Set<(isFree: boolean) => void>();

  /**
   * @param free how many operations may run at a time
   * @param maxQueue how many operations may queue
   */
  constructor(
    private free: number,
    private readonly maxQueue: number,
  ) {}

  /**
   * Runs the work when a slot is free, in the order of the calls.
   * @param ms how long the work may queue; negative refuses it even if a slot is free
   * @param timeoutError creates the error that is thrown if no slot becomes free in time
   */
  async run<T>(ms: number, work: () => Promise<T>, timeoutError: () => Error): Promise<T> {
    if (ms < 0 || !(await this.acquire(ms))) throw timeoutError();
    try {
      return await work();
    } finally {
      // Passes the slot to the next operation in the queue.
      const [next] = this.queue;
      if (next) next(true);
      else this.free++;
    }
  }

  private acquire(ms: number): Promise<boolean> | boolean {
    if (this.free > 0) {
      this.free--;
      return true;
    }
    if (this.queue.size >= this.maxQueue) return false;
    return new Promise((resolve) => {
      const settle = (isFree: boolean) => {
        clearTimeout(timer);
        this.queue.delete(settle);
        resolve(isFree);
      };
      const timer = setTimeout(settle, Math.min(ms, MAX_DELAY_MS), false);
      this.queue.add(settle);
    });
  }
}
