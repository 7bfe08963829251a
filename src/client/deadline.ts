/** Maximum delay of a timer in milliseconds. A longer timer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Thrown by `Deadline.race` after the timeout. */
export class DeadlineExceeded extends Error {}

/**
 * Aborts work when one of several signals aborts or after a timeout. `race` rejects at once, even if the
 * work ignores `signal`.
 */
export class Deadline {
  private readonly controller = new AbortController();
  private readonly sources: readonly AbortSignal[];
  private readonly timer: ReturnType<typeof setTimeout> | undefined;
  private readonly onAbort = (event: Event) => {
    this.controller.abort((event.target as AbortSignal).reason);
  };

  /** @param timeoutMs milliseconds; undefined for no timeout */
  constructor(sources: readonly (AbortSignal | undefined)[], timeoutMs?: number) {
    this.sources = sources.filter((source) => source !== undefined);
    for (const source of this.sources) {
      if (source.aborted) this.controller.abort(source.reason);
      else source.addEventListener('abort', this.onAbort);
    }
    if (timeoutMs === undefined) return;
    this.timer = setTimeout(
      () => {
        this.controller.abort(new DeadlineExceeded(`no response within ${timeoutMs} ms`));
      },
      Math.min(timeoutMs, MAX_TIMER_MS),
    );
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** @throws the reason of the abort, or `DeadlineExceeded` */
  async race<T>(work: Promise<T>): Promise<T> {
    const { signal } = this;
    let stop = (): void => undefined;
    const aborted = new Promise<never>((_, reject) => {
      stop = () => {
        reject(signal.reason as Error);
      };
      if (signal.aborted) stop();
      else signal.addEventListener('abort', stop);
    });
    try {
      return await Promise.race([work, aborted]);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** Removes the timer and the listeners. */
  clear(): void {
    clearTimeout(this.timer);
    for (const source of this.sources) source.removeEventListener('abort', this.onAbort);
  }
}

/**
 * Waits, or rejects with the reason of the first signal that aborts.
 * @param ms milliseconds
 */
export async function sleep(ms: number, signals: readonly (AbortSignal | undefined)[]) {
  const deadline = new Deadline(signals);
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    for (let left = Math.ceil(ms); left > 0; left -= MAX_TIMER_MS) {
      const due = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, Math.min(left, MAX_TIMER_MS));
      });
      await deadline.race(due);
    }
  } finally {
    clearTimeout(timer);
    deadline.clear();
  }
}
