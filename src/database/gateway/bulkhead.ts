/** What a timer can wait. */
const FOR_EVER_MS = 2 ** 31 - 1;

/** A few places for work that has to wait, so that it never takes everything that others need. */
export class Bulkhead {
  private readonly queue = new Set<() => void>();

  /**
   * @param free how many may be inside at a time
   * @param most how many may wait for a place
   */
  constructor(
    private free: number,
    private readonly most: number,
  ) {}

  /**
   * Does the work as soon as there is a place for it, in the order in which it came.
   * @param ms how long it may wait for the place; negative, not even where one is free
   * @param tooLate makes what is thrown where no place was free in time
   */
  async run<T>(ms: number, work: () => Promise<T>, tooLate: () => Error): Promise<T> {
    if (!(await this.acquire(ms))) throw tooLate();
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
    if (this.queue.size >= this.most) return false;
    return new Promise((resolve) => {
      const call = () => {
        clearTimeout(overdue);
        this.queue.delete(call);
        resolve(true);
      };
      const overdue = setTimeout(
        () => {
          this.queue.delete(call);
          resolve(false);
        },
        Math.min(ms, FOR_EVER_MS),
      );
      this.queue.add(call);
    });
  }

  /** Passes the place on. */
  private release(): void {
    const [next] = this.queue;
    if (next) next();
    else this.free++;
  }
}
