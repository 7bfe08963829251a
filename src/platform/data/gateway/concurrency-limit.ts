import { Injectable } from '@nestjs/common';

/**
 * Bounds of the limit. More concurrent operations do not increase the throughput. With fewer, connections would be
 * idle, and batches would have no effect.
 */
export const MAX_LIMIT = 64;
const MIN_LIMIT = 16;

/** The limit is too high if an operation takes longer than this while the limit is reached. */
const SLOW_MS = 100;

/**
 * Limit of concurrent database operations. While it is reached, it grows by one for each round of operations, and
 * is halved when an operation is slow (additive increase, multiplicative decrease).
 */
@Injectable()
export class ConcurrencyLimit {
  /** Number of running operations. */
  inFlight = 0;
  /** Number of completed statements since startup. */
  completed = 0;
  private limit = MAX_LIMIT;
  /** When the limit was last halved. */
  private halvedAt = 0;
  private released: () => void = () => undefined;

  /** @returns the time of the call, for `release` */
  acquire(): number {
    this.inFlight++;
    return performance.now();
  }

  /**
   * Records the end of an operation, successful or not.
   * @param startedAt when the operation started. Without it, its duration does not count.
   */
  release(startedAt?: number): void {
    if (startedAt !== undefined && this.isReached) this.adjust(startedAt);
    this.inFlight--;
    this.released();
  }

  /** @param listener called when an operation ends */
  onRelease(listener: () => void): void {
    this.released = listener;
  }

  /** Whether another operation would have to wait. */
  get isReached(): boolean {
    return this.available <= 0;
  }

  /** How many more operations may start. At zero or less, the caller must wait. */
  get available(): number {
    return Math.floor(this.limit) - this.inFlight;
  }

  /** Counts a statement when its promise is fulfilled. */
  async count<T>(running: Promise<T>): Promise<T> {
    const result = await running;
    this.completed++;
    return result;
  }

  private adjust(startedAt: number): void {
    const now = performance.now();
    if (now - startedAt <= SLOW_MS) {
      this.limit = Math.min(MAX_LIMIT, this.limit + 1 / this.limit);
    } else if (startedAt >= this.halvedAt) {
      // Operations that started earlier say nothing about the current limit.
      this.limit = Math.max(MIN_LIMIT, this.limit / 2);
      this.halvedAt = now;
    }
  }
}
