import { TimeoutError, withTimeout } from '../../config/timeout.js';

/** A request for keys. */
interface Place {
  /** Resolve when the requests before it have ended. */
  readonly earlier: readonly Promise<void>[];
  readonly leave: () => void;
}

/**
 * Gives each key to one operation of this instance at a time, in the order of the requests. An operation gets several keys
 * together, and has no key while it waits, so that two operations never wait for each other.
 */
export class KeyedQueue {
  /** Promises that are fulfilled when the latest request for a key has ended, by key. */
  private readonly ends = new Map<string, Promise<void>>();

  /** Whether one of the keys is taken or waited for. */
  isBusy(keys: readonly string[]): boolean {
    return keys.some((key) => this.ends.has(key));
  }

  /** Takes keys that nobody has. @returns a function that gives them back */
  take(keys: readonly string[]): () => void {
    return this.enter(keys).leave;
  }

  /**
   * Waits for keys.
   * @returns a function that gives them back
   * @throws TimeoutError if they do not become free in time
   */
  async wait(keys: readonly string[], ms: number): Promise<() => void> {
    const { earlier, leave } = this.enter(keys);
    try {
      if (earlier.length > 0) await withTimeout(Promise.all(earlier), ms);
    } catch (error) {
      leave();
      throw error;
    }
    return leave;
  }

  /**
   * Waits until those who have keys, or wait for them now, have ended. It takes none.
   * @throws TimeoutError
   */
  async untilEnded(keys: readonly string[], ms: number): Promise<void> {
    await withTimeout(Promise.all(keys.flatMap((key) => this.ends.get(key) ?? [])), ms);
  }

  private enter(keys: readonly string[]): Place {
    const earlier = keys.flatMap((key) => this.ends.get(key) ?? []);
    let leave = (): void => undefined;
    const left = new Promise<void>((resolve) => (leave = resolve));
    const end = Promise.all([...earlier, left]).then(() => {
      for (const key of keys) if (this.ends.get(key) === end) this.ends.delete(key);
    });
    for (const key of keys) this.ends.set(key, end);
    return { earlier, leave };
  }
}

/** A transaction needs keys that other operations have. It must be rolled back before it waits for them. */
export class TurnNeeded extends Error {
  /**
   * @param keys the keys to wait for
   * @param looksAgain whether the transaction may not need them when those who have them now have ended
   */
  constructor(
    readonly keys: readonly string[],
    readonly looksAgain: boolean,
  ) {
    super('the transaction waits for another operation of this instance');
  }
}

/** The keys of one operation. */
export class Turn {
  private readonly keys = new Set<string>();
  private releases: (() => void)[] = [];
  private hasLooked = false;
  /** What the transaction needs, also if its work has caught the error. */
  needed: TurnNeeded | undefined;

  constructor(private readonly queue: KeyedQueue) {}

  /**
   * Takes more keys until the end.
   * @param looksAgain as of `TurnNeeded`
   * @throws TurnNeeded if they are not free
   */
  take(keys: readonly string[], looksAgain = false): void {
    const more = keys.filter((key) => !this.keys.has(key));
    if (more.length === 0) return;
    if (this.queue.isBusy(more)) {
      this.needed ??= new TurnNeeded([...this.keys, ...more], looksAgain);
      throw this.needed;
    }
    this.hold(more, this.queue.take(more));
  }

  /**
   * Gives all keys back and waits for others, and takes these.
   * @returns whether they became free in time
   */
  wait(keys: readonly string[], ms: number): Promise<boolean> {
    this.end();
    return inTime(
      this.queue.wait(keys, ms).then((release) => {
        this.hold(keys, release);
      }),
    );
  }

  /** Like `wait`, as a transaction needs it that was rolled back. One that needs the keys again takes them. */
  waitAfter({ keys, looksAgain }: TurnNeeded, ms: number): Promise<boolean> {
    if (!looksAgain || this.hasLooked) return this.wait(keys, ms);
    this.hasLooked = true;
    this.end();
    return inTime(this.queue.untilEnded(keys, ms));
  }

  end(): void {
    for (const release of this.releases) release();
    this.releases = [];
    this.keys.clear();
    this.needed = undefined;
  }

  private hold(keys: readonly string[], release: () => void): void {
    for (const key of keys) this.keys.add(key);
    this.releases.push(release);
  }
}

async function inTime(waiting: Promise<void>): Promise<boolean> {
  try {
    await waiting;
    return true;
  } catch (error) {
    if (error instanceof TimeoutError) return false;
    throw error;
  }
}
