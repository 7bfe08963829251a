import { setTimeout as sleep } from 'node:timers/promises';

export interface PollOptions {
  /** Milliseconds between two looks. */
  readonly every: number;
  /** Milliseconds after which it gives up; without it, only the signal ends the wait. */
  readonly timeout?: number;
  readonly signal?: AbortSignal;
}

/**
 * Looks until the condition holds.
 * @returns false when the time was up first
 * @throws AbortError when the signal was aborted first
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
