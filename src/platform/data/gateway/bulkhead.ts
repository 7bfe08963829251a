/** The longest delay of a timer. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/**
 * Limits the number of operations that wait for locks, so that they never use all connections of the pool.
 */
export class Bulkhead {
  private readonly queue = new Set<() => void>();

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
    if (!(await this.acquire(ms))) throw timeoutError();
    try {
      return await work();
    } finally {
      this.release();
    }
  }

  private acquire(ms: number): Promise<boolean> | boolean {
    if (ms < 0) return false;
    if (this.free > 0) {
      this.free--;
      return true;
    }
    if (this.queue.size >= this.maxQueue) return false;
    return new Promise((resolve) => {
      const call = () => {
        clearTimeout(timer);
        this.queue.delete(call);
        resolve(true);
      };
      const timer = setTimeout(
        () => {
          this.queue.delete(call);
          resolve(false);
        },
        Math.min(ms, MAX_DELAY_MS),
      );
      this.queue.add(call);
    });
  }

  /** Passes the slot to the next operation in the queue. */
  private release(): void {
    const [next] = this.queue;
    if (next) next();
    else this.free++;
  }
}
