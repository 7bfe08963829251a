/** The longest delay of a timer. */
export const MAX_DELAY_MS = 2 ** 31 - 1;

/** There was no reply in time. */
export class TimeoutError extends Error {}

/** @throws TimeoutError if there is no reply in time */
export async function withTimeout<T>(reply: Promise<T>, ms: number): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    // A reply that has arrived while the event loop was busy is read first.
    timer = setTimeout(
      () => {
        setImmediate(reject, new TimeoutError(`There is no reply after ${ms} ms.`));
      },
      Math.min(ms, MAX_DELAY_MS),
    );
  });
  try {
    return await Promise.race([reply, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
