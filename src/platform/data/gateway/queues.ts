import { setImmediate as nextTurn } from 'node:timers/promises';

export interface BatchOptions<I> {
  /** How many batches may run at a time. Items that arrive meanwhile form the next batch. */
  readonly concurrency: number;
  /** How many of the oldest items form the next batch, at least one. Default: all. */
  readonly batchSize?: (items: readonly I[]) => number;
  /**
   * How many callers of a batch continue in one turn of the event loop. Items that arrive while the others
   * wait for their turns can form the next batch. Default: all callers.
   */
  readonly callersPerTurn?: () => number;
}

interface Pending<I, O> {
  readonly item: I;
  readonly resolve: (result: O) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Collects items into batches: those of one turn of the event loop, and those that arrive while other batches
 * run. Results are not cached.
 */
export class BatchQueue<I, O> {
  private pending: Pending<I, O>[] = [];
  private running = 0;
  /** Whether a batch will take the pending items. */
  private isNextScheduled = false;

  /**
   * @param process processes a batch, and returns one result for each item, in their order. Its parameter returns the
   *   items; call it as late as possible, because more items may arrive until then.
   */
  constructor(
    private readonly options: BatchOptions<I>,
    private readonly process: (take: () => readonly I[]) => Promise<readonly O[]>,
  ) {}

  /** @throws the error of the batch */
  add(item: I): Promise<O> {
    return new Promise((resolve, reject) => {
      this.pending.push({ item, resolve, reject });
      this.schedule();
    });
  }

  private schedule(): void {
    if (this.startsNext()) setImmediate(() => void this.run());
  }

  /** Whether the caller has to start the next batch. */
  private startsNext(): boolean {
    const isFull = this.running >= this.options.concurrency;
    if (this.isNextScheduled || isFull || this.pending.length === 0) return false;
    this.isNextScheduled = true;
    return true;
  }

  private async run(): Promise<void> {
    this.running++;
    let batch: readonly Pending<I, O>[] | undefined;
    const take = () => (batch ??= this.take()).map(({ item }) => item);
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
    if (this.startsNext()) void this.run();
    const callersPerTurn = this.options.callersPerTurn?.() ?? Infinity;
    for (const [index, one] of (batch ?? []).entries()) {
      if (index > 0 && index % callersPerTurn === 0) await nextTurn();
      settle(one, index);
    }
  }

  /** Removes the items of the next batch from the queue. */
  private take(): readonly Pending<I, O>[] {
    this.isNextScheduled = false;
    const items = this.pending.map(({ item }) => item);
    const taken = this.pending.splice(0, this.options.batchSize?.(items) ?? items.length);
    this.schedule();
    return taken;
  }
}
