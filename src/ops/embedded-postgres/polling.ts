import { setTimeout as sleep } from 'node:timers/promises';

export interface PollOptions {
  /** Milliseconds between two checks. */
  readonly every: number;
  /** Timeout in milliseconds. Without it, only the signal ends the wait. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

/**
 * Waits until the condition is true.
 * @returns false after the timeout
 * @throws AbortError if the signal was aborted
 */
export async function pollUntil(
  condition: () => boolean | Promise<boolean>,
  { every, timeout = Infinity, signal }: PollOptions,
): Promise<boolean> {
  const deadline = performance.now() + timeout;
  while (!(await condition())) {
    if (performance.now() >= deadline) return false;
    await sleep(every, undefined, { signal });
  }
  return true;
}
