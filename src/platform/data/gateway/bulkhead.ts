import { MAX_DELAY_MS } from '../../config/timeout.js';

/** The operations of one organization. */
interface Lane {
  running: number;
  /** Tell those that queue whether they may run, in the order of the calls. */
  readonly queue: Set<(mayRun: boolean) => void>;
}

/**
 * Limits the number of operations that wait for locks, so that they never use all connections of the pool. An organization
 * leaves one of the slots to the others.
 */
export class Bulkhead {
  /** By the id of the organization, those that were served last at the end. */
  private readonly lanes = new Map<string, Lane>();
  /** How many operations of one organization may run at a time. */
  private readonly share: number;

  /**
   * @param free how many operations may run at a time
   * @param maxQueue how many operations of one organization may queue
   */
  constructor(
    private free: number,
    private readonly maxQueue: number,
  ) {
    this.share = Math.max(1, free - 1);
  }

  /**
   * Runs the work when a slot is free, in the order of the calls of an organization.
   * @param ms how long the work may queue; negative refuses it even if a slot is free
   * @param timeoutError creates the error that is thrown if no slot becomes free in time
   */
  async run<T>(
    organizationId: string,
    ms: number,
    work: () => Promise<T>,
    timeoutError: () => Error,
  ): Promise<T> {
    if (ms < 0) throw timeoutError();
    const lane = this.lanes.get(organizationId) ?? { running: 0, queue: new Set() };
    this.lanes.set(organizationId, lane);
    try {
      if (!(await this.acquire(lane, ms))) throw timeoutError();
      try {
        return await work();
      } finally {
        this.release(lane);
      }
    } finally {
      if (lane.running + lane.queue.size === 0) this.lanes.delete(organizationId);
    }
  }

  private acquire(lane: Lane, ms: number): Promise<boolean> | boolean {
    if (this.mayRun(lane)) {
      this.take(lane);
      return true;
    }
    if (lane.queue.size >= this.maxQueue) return false;
    return new Promise((resolve) => {
      const settle = (mayRun: boolean) => {
        clearTimeout(timer);
        lane.queue.delete(settle);
        resolve(mayRun);
      };
      const timer = setTimeout(settle, Math.min(ms, MAX_DELAY_MS), false);
      lane.queue.add(settle);
    });
  }

  private mayRun({ running }: Lane): boolean {
    return this.free > 0 && running < this.share;
  }

  private take(lane: Lane): void {
    lane.running++;
    this.free--;
  }

  /** Passes the slot to the organization with the fewest operations. */
  private release(lane: Lane): void {
    lane.running--;
    this.free++;
    const [next] = [...this.lanes]
      .filter(([, each]) => each.queue.size > 0 && this.mayRun(each))
      .sort(([, one], [, other]) => one.running - other.running);
    if (!next) return;
    const [id, waiting] = next;
    this.lanes.delete(id);
    this.lanes.set(id, waiting);
    this.take(waiting);
    const [settle] = waiting.queue;
    settle?.(true);
  }
}
