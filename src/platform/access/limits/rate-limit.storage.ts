import type { ThrottlerStorage } from '@nestjs/throttler';
import type { MaybePromise } from '../../maybe-promise.js';

/** The state of one fixed window. */
export interface RateWindow {
  /** Requests counted in the window. */
  readonly totalHits: number;
  /** Maximum number of requests in the window. */
  readonly limit: number;
  /** Whether the limit was already reached. Blocked requests are not counted. */
  readonly isBlocked: boolean;
  /** End of the window in milliseconds since the epoch. */
  readonly endsAt: number;
  /** Seconds until the window ends, rounded up. */
  readonly timeToExpire: number;
  readonly timeToBlockExpire: number;
}

/** Counts requests in fixed windows. A window starts with its first request; `ttl` is in ms. */
export interface RateLimitStorage extends ThrottlerStorage {
  /**
   * Counts a request, unless the limit of its window is reached.
   * @param amount how many requests it counts as, which are counted together or not at all; a negative number
   *   returns requests. Default: 1.
   */
  count(key: string, ttl: number, limit: number, amount?: number): MaybePromise<RateWindow>;
  /** Returns the state of the window without counting. */
  peek(key: string, ttl: number, limit: number): MaybePromise<RateWindow>;
}

interface Counter {
  hits: number;
  readonly startedAt: number;
  readonly endsAt: number;
}

/** Interval at which expired windows are deleted: the length of most windows. */
const SWEEP_INTERVAL_MS = 60_000;

/** Keeps the windows in the memory of this process. */
export class MemoryRateLimitStorage implements RateLimitStorage {
  private readonly counters = new Map<string, Counter>();
  private cleanedAt = 0;

  /** Implements `ThrottlerStorage`. */
  increment(key: string, ttl: number, limit: number): Promise<RateWindow> {
    return Promise.resolve(this.count(key, ttl, limit));
  }

  count(key: string, ttl: number, limit: number, amount = 1): RateWindow {
    const now = Date.now();
    this.deleteExpired(now);
    const counter = this.currentCounter(key, now) ?? this.startWindow(key, now, ttl);
    const isBlocked = amount > 0 && counter.hits + amount > limit;
    if (!isBlocked) counter.hits = Math.max(0, counter.hits + amount);
    const { hits, endsAt } = counter;
    return windowOf({ hits, endsAt, limit }, endsAt - now, isBlocked);
  }

  peek(key: string, ttl: number, limit: number): RateWindow {
    const now = Date.now();
    const { hits, endsAt } = this.currentCounter(key, now) ?? newCounter(now, ttl);
    return windowOf({ hits, endsAt, limit }, endsAt - now);
  }

  private startWindow(key: string, now: number, ttl: number): Counter {
    const counter = newCounter(now, ttl);
    this.counters.set(key, counter);
    return counter;
  }

  private currentCounter(key: string, now: number): Counter | undefined {
    const counter = this.counters.get(key);
    return counter && isCurrent(counter, now) ? counter : undefined;
  }

  private deleteExpired(now: number): void {
    const sinceSweep = now - this.cleanedAt;
    if (0 <= sinceSweep && sinceSweep < SWEEP_INTERVAL_MS) return;
    this.cleanedAt = now;
    for (const [key, counter] of this.counters) {
      if (!isCurrent(counter, now)) this.counters.delete(key);
    }
  }
}

function newCounter(now: number, ttl: number): Counter {
  return { hits: 0, startedAt: now, endsAt: now + ttl };
}

/** A window that starts in the future is not current: the system clock was set back. */
function isCurrent({ startedAt, endsAt }: Counter, now: number): boolean {
  return startedAt <= now && now < endsAt;
}

/** @param msLeft the time until the window ends */
export function windowOf(
  { hits, limit, endsAt }: { hits: number; limit: number; endsAt: number },
  msLeft: number,
  isBlocked = false,
): RateWindow {
  const seconds = Math.ceil(msLeft / 1000);
  return {
    totalHits: hits,
    limit,
    isBlocked,
    endsAt,
    timeToExpire: seconds,
    timeToBlockExpire: isBlocked ? seconds : 0,
  };
}
