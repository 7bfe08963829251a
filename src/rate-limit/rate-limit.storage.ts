import type { ThrottlerStorage } from '@nestjs/throttler';
import type { Soon } from './soon.js';

/** The state of one fixed window. */
export interface RateWindow {
  /** Requests counted in the window. */
  readonly totalHits: number;
  /** Requests that the window has room for. */
  readonly limit: number;
  /** Whether this request came after the limit was reached; such a request is not counted. */
  readonly isBlocked: boolean;
  /** When the window ends, in milliseconds since the epoch. */
  readonly endsAt: number;
  /** Seconds until the window ends, rounded up. */
  readonly timeToExpire: number;
  readonly timeToBlockExpire: number;
}

/** Counts requests in fixed windows, each beginning with its first request; times in ms. */
export interface RateLimitStorage extends ThrottlerStorage {
  /** Counts a request, unless the limit of its window is reached. */
  count(key: string, ttl: number, limit: number): Soon<RateWindow>;
  /** The window as it stands, without counting. */
  peek(key: string, ttl: number, limit: number): Soon<RateWindow>;
}

interface Counter {
  hits: number;
  readonly beganAt: number;
  readonly endsAt: number;
}

/** Windows in the memory of this process. */
export class MemoryRateLimitStorage implements RateLimitStorage {
  private readonly counters = new Map<string, Counter>();
  private sweptAt = 0;

  /** What `ThrottlerStorage` calls it. */
  increment(key: string, ttl: number, limit: number): Promise<RateWindow> {
    return Promise.resolve(this.count(key, ttl, limit));
  }

  count(key: string, ttl: number, limit: number): RateWindow {
    const now = Date.now();
    this.sweep(now, ttl);
    const counter = this.liveCounter(key, now) ?? this.begin(key, now, ttl);
    const isBlocked = counter.hits >= limit;
    if (!isBlocked) counter.hits++;
    return toWindow(counter, limit, isBlocked, now);
  }

  peek(key: string, ttl: number, limit: number): RateWindow {
    const now = Date.now();
    const counter = this.liveCounter(key, now) ?? windowFrom(now, ttl);
    return toWindow(counter, limit, false, now);
  }

  private begin(key: string, now: number, ttl: number): Counter {
    const counter = windowFrom(now, ttl);
    this.counters.set(key, counter);
    return counter;
  }

  private liveCounter(key: string, now: number): Counter | undefined {
    const counter = this.counters.get(key);
    return counter && isLive(counter, now) ? counter : undefined;
  }

  private sweep(now: number, ttl: number): void {
    const sinceSweep = now - this.sweptAt;
    if (0 <= sinceSweep && sinceSweep < ttl) return;
    this.sweptAt = now;
    for (const [key, counter] of this.counters) {
      if (!isLive(counter, now)) this.counters.delete(key);
    }
  }
}

function windowFrom(now: number, ttl: number): Counter {
  return { hits: 0, beganAt: now, endsAt: now + ttl };
}

/** One that has yet to begin was counted by a clock that has been put back: it would last too long. */
function isLive({ beganAt, endsAt }: Counter, now: number): boolean {
  return beganAt <= now && now < endsAt;
}

function toWindow(
  { hits, endsAt }: Counter,
  limit: number,
  isBlocked: boolean,
  now: number,
): RateWindow {
  const seconds = Math.ceil((endsAt - now) / 1000);
  return {
    totalHits: hits,
    limit,
    isBlocked,
    endsAt,
    timeToExpire: seconds,
    timeToBlockExpire: isBlocked ? seconds : 0,
  };
}
