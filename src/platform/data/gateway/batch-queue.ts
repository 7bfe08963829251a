import { setImmediate as nextTurn } from 'node:timers/promises';

/** One read or write that can share a statement with others. */
export interface BatchItem {
  /** Identifies what the item reads or writes. */
  readonly id: string;
  /** Size of the item in the statement, in characters. */
  readonly size?: number;
}

export interface BatchLimits {
  /** How many batches may run at a time. Items that arrive meanwhile form the next batch. Default: no limit. */
  readonly concurrency?: number;
  readonly maxItems?: number;
  readonly maxSize?: number;
  /** Whether a batch may have several items with the same id. Default: false. */
  readonly allowsEqualIds?: boolean;
  /** Whether a batch is processed at once, because `process` itself waits for more items. Default: false. */
  readonly startsAtOnce?: boolean;
  /**
   * Returns how many callers of a batch continue in one turn of the event loop. Items that arrive while the others
   * wait for their turns can form the next batch. Default: all callers.
   */
  readonly callersPerTurn?: () => number;
}

/**
 * Returns the items of a batch, at least one. It must be called, and as late as possible, because more items may
 * arrive until then.
 * @param maxItems a lower maximum number of items
 */
export type TakeItems<I> = (maxItems?: number) => readonly I[];

/**
 * Processes a batch.
 * @returns one result for each item, in their order
 */
export type ProcessBatch<I, O> = (take: TakeItems<I>) => Promise<readonly O[]>;

interface Pending<I, O> {
  readonly item: I;
  readonly resolve: (result: O) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects items into batches: those of one turn of the event loop, and those that arrive while other batches
 * run. Results are not cached.
 */
export class BatchQueue<I extends BatchItem, O> {
  private pending: Pending<I, O>[] = [];
  private running = 0;
  /** Whether a batch will take the pending items. */
  private isNextScheduled = false;

  /** @param onIdle called when no item is left */
  constructor(
    private readonly limits: BatchLimits,
    private readonly process: ProcessBatch<I, O>,
    private readonly onIdle: () => void = () => undefined,
  ) {}

  /** @throws the error of the batch */
  add(item: I): Promise<O> {
    return new Promise((resolve, reject) => {
      this.pending.push({ item, resolve, reject });
      this.schedule();
    });
  }

  private schedule(): void {
    const { concurrency = Infinity, startsAtOnce } = this.limits;
    if (this.isNextScheduled || this.running >= concurrency) return;
    this.isNextScheduled = true;
    if (startsAtOnce) void this.run();
    else setImmediate(() => void this.run());
  }

  private async run(): Promise<void> {
    this.running++;
    let batch: readonly Pending<I, O>[] | undefined;
    const take = (maxItems?: number) => (batch ??= this.take(maxItems)).map(({ item }) => item);
    let settle: (one: Pending<I, O>, index: number) => void;
    try {
      const results = await this.process(take);
      settle = ({ resolve }, index) => {
        resolve(results[index] as O);
      };
    } catch (error) {
      batch ??= this.take();
      settle = ({ reject }) => {
        reject(error);
      };
    }
    this.running--;
    this.startNext();
    const callersPerTurn = this.limits.callersPerTurn?.() ?? Infinity;
    for (const [index, one] of (batch ?? []).entries()) {
      if (index > 0 && index % callersPerTurn === 0) await nextTurn();
      settle(one, index);
    }
  }

  private startNext(): void {
    if (this.pending.length === 0) {
      if (this.running === 0) this.onIdle();
    } else if (!this.isNextScheduled) {
      this.isNextScheduled = true;
      void this.run();
    }
  }

  /** Removes the items of the next batch from the queue, oldest first. */
  private take(atMost = Infinity): readonly Pending<I, O>[] {
    this.isNextScheduled = false;
    const { maxSize = Infinity, allowsEqualIds = false } = this.limits;
    const maxItems = Math.max(1, Math.min(atMost, this.limits.maxItems ?? Infinity));
    const taken: Pending<I, O>[] = [];
    const left: Pending<I, O>[] = [];
    const ids = new Set<string>();
    let size = 0;
    for (const pending of this.pending) {
      const { id, size: itemSize = 0 } = pending.item;
      const fits = taken.length < maxItems && (size + itemSize <= maxSize || taken.length === 0);
      if (!fits || ids.has(id)) {
        left.push(pending);
        continue;
      }
      taken.push(pending);
      size += itemSize;
      if (!allowsEqualIds) ids.add(id);
    }
    this.pending = left;
    if (left.length > 0) this.schedule();
    return taken;
  }
}
