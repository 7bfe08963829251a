import { logger } from '../../config/logger.js';

/** Work after the commit of a transaction. */
export interface CommitCallback {
  readonly run: () => unknown;
  /** Of the callbacks with the same key, only the first one runs. */
  readonly key?: string;
}

/** The callbacks of one transaction, in the order in which they were added. */
export class CommitCallbacks {
  private readonly callbacks: CommitCallback[] = [];

  get length(): number {
    return this.callbacks.length;
  }

  add(callback: CommitCallback): void {
    this.callbacks.push(callback);
  }

  /** Discards all but the first `length` callbacks. */
  truncate(length: number): void {
    this.callbacks.length = length;
  }

  /** Starts the callbacks in their order, and waits for all of them. Never rejects. */
  async run(): Promise<void> {
    const keys = new Set<string>();
    const first = this.callbacks.filter(({ key }) => {
      if (key === undefined) return true;
      const isFirst = !keys.has(key);
      keys.add(key);
      return isFirst;
    });
    await Promise.all(first.map(({ run }) => runAfterCommit(run)));
  }
}

/** Runs a callback. An error is only logged: the data is committed, so the request must not fail. */
export async function runAfterCommit(callback: () => unknown): Promise<void> {
  try {
    await callback();
  } catch (error) {
    logger.error({ err: error }, 'a callback after commit failed');
  }
}
