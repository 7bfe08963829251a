const FIRST_DELAY_MS = 1_000;
const MAX_DELAY_MS = 30_000;

/**
 * How long to wait before the next attempt: 1,000 ms, doubled with each attempt and capped at 30,000
 * ms, and of that a random part between 50 % and 100 %. A longer `Retry-After` is honoured, also
 * beyond the cap.
 * @param attempt the attempt that failed, from 1
 * @param retryAfterMs what the server asked for
 * @param random from 0 to 1
 * @returns milliseconds
 */
export function retryDelay(attempt: number, retryAfterMs: number, random = Math.random()): number {
  const delay = Math.min(FIRST_DELAY_MS * 2 ** (attempt - 1), MAX_DELAY_MS);
  return Math.max(delay * (0.5 + random / 2), retryAfterMs);
}

/**
 * Reads a `Retry-After` header: seconds, or a date.
 * @returns milliseconds; 0 where there is no usable value
 */
export function retryAfterMs(value: string | null, now = Date.now()): number {
  if (value === null) return 0;
  const seconds = value.trim() === '' ? NaN : Number(value);
  const ms = Number.isNaN(seconds) ? Date.parse(value) - now : seconds * 1_000;
  return Number.isFinite(ms) ? Math.max(0, ms) : 0;
}
