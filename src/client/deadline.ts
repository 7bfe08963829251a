/** Maximum delay of a timer in milliseconds. A longer timer would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The time of `withDeadline` is over. */
export class DeadlineExceeded extends Error {}

/**
 * Runs work until one of several signals aborts or the time is over. Then it rejects at once, even if the work ignores
 * the signal that it receives. Work whose signals have aborted before is not begun.
 * @param timeoutMs milliseconds
 * @throws the reason of the abort, or `DeadlineExceeded`
 */
export async function withDeadline<T>(
  signals: readonly (AbortSignal | undefined)[],
  timeoutMs: number,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const sources = signals.filter((source) => source !== undefined);
  for (const source of sources) source.throwIfAborted();
  const controller = new AbortController();
  const { signal } = controller;
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(signal.reason as Error);
    });
  });
  const onAbort = (event: Event) => {
    controller.abort((event.target as AbortSignal).reason);
  };
  const onTimeout = () => {
    controller.abort(new DeadlineExceeded(`no response within ${timeoutMs} ms`));
  };
  const timer = setTimeout(onTimeout, Math.min(timeoutMs, MAX_TIMER_MS));
  for (const source of sources) source.addEventListener('abort', onAbort);
  try {
    return await Promise.race([aborted, work(signal)]);
  } finally {
    clearTimeout(timer);
    for (const source of sources) source.removeEventListener('abort', onAbort);
  }
}

/**
 * Waits, or rejects with the reason of the first signal that aborts.
 * @param ms milliseconds
 */
export async function sleep(ms: number, signals: readonly (AbortSignal | undefined)[]) {
  const forever = () => new Promise<void>(() => undefined);
  await withDeadline(signals, ms, forever).catch((reason: unknown) => {
    if (!(reason instanceof DeadlineExceeded)) throw reason;
  });
}
