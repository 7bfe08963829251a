import { setTimeout as sleep } from 'node:timers/promises';

const PAUSE_MS = 10;

/**
 * Waits until the condition is true.
 * @param timeout in milliseconds. Without it, only the signal ends the wait.
 * @returns false after the timeout
 * @throws AbortError if the signal was aborted
 */
export async function pollUntil(
  condition: () => boolean | Promise<boolean>,
  { timeout = Infinity, signal }: { readonly timeout?: number; readonly signal?: AbortSignal },
): Promise<boolean> {
  const deadline = performance.now() + timeout;
  while (!(await condition())) {
    if (performance.now() >= deadline) return false;
    await sleep(PAUSE_MS, undefined, { signal });
  }
  return true;
}
