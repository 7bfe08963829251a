import { withTimeout } from '../../config/timeout.js';

/** How long work waits for earlier work at most, so that one caller that hangs does not hold up the others. */
const MAX_WAIT_MS = 250;

const NOOP = (): void => undefined;

/** Runs work with the same key one after another, in the order of the calls. */
export class KeyedQueue {
  /** Promises that are fulfilled when the latest work with a key has ended, by key. */
  private readonly ends = new Map<string, Promise<void>>();

  /** @throws any error of `work` */
  async run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const earlier = this.ends.get(key);
    const running = earlier ? withTimeout(earlier, MAX_WAIT_MS).catch(NOOP).then(work) : work();
    const end = running.then(NOOP, NOOP);
    this.ends.set(key, end);
    try {
      return await running;
    } finally {
      if (this.ends.get(key) === end) this.ends.delete(key);
    }
  }
}
