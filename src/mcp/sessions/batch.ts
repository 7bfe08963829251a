interface Pending<I, O> {
  readonly item: I;
  readonly resolve: (result: O) => void;
  readonly reject: (error: unknown) => void;
}

/** Processes items in batches, one at a time. Items that arrive during a batch form the next one. */
export class Batch<I, O> {
  private pending: Pending<I, O>[] = [];
  private isRunning = false;

  /** @param process returns one result for each item, in their order */
  constructor(private readonly process: (items: readonly I[]) => Promise<readonly O[]>) {}

  /** @throws the error of the batch */
  add(item: I): Promise<O> {
    return new Promise((resolve, reject) => {
      this.pending.push({ item, resolve, reject });
      if (!this.isRunning) void this.run();
    });
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    while (this.pending.length > 0) {
      const batch = this.pending;
      this.pending = [];
      try {
        const results = await this.process(batch.map(({ item }) => item));
        batch.forEach(({ resolve }, index) => {
          resolve(results[index] as O);
        });
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.isRunning = false;
  }
}
