const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;

/**
 * Delay before the next attempt: 1,000 ms, doubled with each attempt up to 30,000 ms, times a random
 * factor from 0.5 to 1. A longer `Retry-After` takes precedence, even beyond the maximum.
 * @param attempt the attempt that failed, from 1
 * @param retryAfterMs delay that the server requested, in milliseconds
 * @param random from 0 to 1
 * @returns milliseconds
 */
export function retryDelay(attempt: number, retryAfterMs: number, random = Math.random()): number {
  const delay = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS);
  return Math.max(delay * (0.5 + random / 2), retryAfterMs);
}

/**
 * Reads a `Retry-After` header: seconds, or a date.
 * @returns milliseconds; 0 without a valid value
 */
export function retryAfterMs(value: string | null, now = Date.now()): number {
  if (value === null) return 0;
  const seconds = value.trim() === '' ? NaN : Number(value);
  const ms = Number.isNaN(seconds) ? Date.parse(value) - now : seconds * 1_000;
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}
