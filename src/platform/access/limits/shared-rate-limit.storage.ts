import type { MaybePromise } from '../../maybe-promise.js';
import {
  MemoryRateLimitStorage,
  type RateLimitStorage,
  type RateWindow,
  windowOf,
} from './rate-limit.storage.js';
import { RedisConnection } from './redis-connection.js';
import type { WindowReply, WindowRequest } from './window-script.js';

/** The time after which requests that were taken in advance are returned. */
const ADVANCE_MS = 100;

/** A request that is counted, or that only reads the window. */
interface Waiting {
  readonly isCounted: boolean;
  readonly resolve: (window: RateWindow) => void;
}

/** The requests of one key in one turn of the event loop. */
interface Group {
  readonly key: string;
  readonly ttl: number;
  readonly limit: number;
  readonly waiting: Waiting[];
}

/** Requests of a window that were counted in advance. */
interface Advance {
  readonly ttl: number;
  readonly limit: number;
  /** Counted requests, without those that are left. */
  hits: number;
  left: number;
  /** End of the window by the clock of Redis. */
  readonly endsAt: number;
  /** End of the window by the monotonic clock of this process. */
  readonly expiresAt: number;
}

/**
 * Uses windows in Redis, so that the limits are exact over all instances. The requests of one turn of the
 * event loop share a round trip. While at least 1,000 requests are left, an instance takes some in advance for
 * a tenth of a second. While Redis does not reply, the windows of this process are used.
 */
export class SharedRateLimitStorage implements RateLimitStorage {
  private readonly local = new MemoryRateLimitStorage();
  private readonly advances = new Map<string, Advance>();
  private readonly redis: RedisConnection;
  private groups = new Map<string, Group>();

  constructor(url: string) {
    this.redis = new RedisConnection(url, () => {
      this.advances.clear();
    });
  }

  /** Whether Redis keeps the windows now. */
  get isOpen(): boolean {
    return this.redis.isOpen;
  }

  connect(): Promise<void> {
    return this.redis.open();
  }

  disconnect(): void {
    this.redis.close();
  }

  /** Implements `ThrottlerStorage`. */
  async increment(key: string, ttl: number, limit: number): Promise<RateWindow> {
    return this.count(key, ttl, limit);
  }

  count(key: string, ttl: number, limit: number, amount = 1): MaybePromise<RateWindow> {
    if (!this.isOpen) return this.local.count(key, ttl, limit, amount);
    if (amount !== 1) return this.countTogether({ key, ttl, limit, asked: amount });
    const advance = this.advanceOf(key, limit);
    if (!advance || advance.left === 0) return this.wait(key, ttl, limit, true);
    advance.left--;
    advance.hits++;
    return windowOf(advance, advance.expiresAt - performance.now());
  }

  peek(key: string, ttl: number, limit: number): MaybePromise<RateWindow> {
    if (!this.isOpen) return this.local.peek(key, ttl, limit);
    return this.wait(key, ttl, limit, false);
  }

  /** Counts several requests or none. */
  private async countTogether(request: WindowRequest): Promise<RateWindow> {
    const { key, ttl, limit, asked } = request;
    try {
      const reply = await this.run(request);
      const isBlocked = reply.allowed < asked;
      // The script allows as many as it can, and some in advance.
      const counted = isBlocked ? 0 : asked;
      if (reply.allowed > counted) await this.run({ ...request, asked: counted - reply.allowed });
      const hits = Math.max(0, reply.hits + counted);
      return windowOf({ hits, limit, endsAt: reply.endsAt }, reply.msLeft, isBlocked);
    } catch {
      return this.local.count(key, ttl, limit, asked);
    }
  }

  private async run(request: WindowRequest): Promise<WindowReply> {
    const [reply] = await this.redis.run([request]);
    if (!reply) throw new Error('Redis has not replied');
    return reply;
  }

  private advanceOf(key: string, limit: number): Advance | undefined {
    const advance = this.advances.get(key);
    return advance?.limit === limit && performance.now() < advance.expiresAt ? advance : undefined;
  }

  private wait(key: string, ttl: number, limit: number, isCounted: boolean): Promise<RateWindow> {
    const id = `${key} ${limit}`;
    const group = this.groups.get(id) ?? { key, ttl, limit, waiting: [] };
    if (this.groups.size === 0) setImmediate(() => void this.send());
    this.groups.set(id, group);
    return new Promise((resolve) => group.waiting.push({ isCounted, resolve }));
  }

  private async send(): Promise<void> {
    const groups = [...this.groups.values()];
    this.groups = new Map();
    try {
      const requests = groups.map(({ key, ttl, limit, waiting }) => {
        return { key, ttl, limit, asked: waiting.filter((one) => one.isCounted).length };
      });
      const replies = await this.redis.run(requests);
      replies.forEach((reply, index) => {
        const group = groups[index];
        if (group) this.resolve(group, reply);
      });
    } catch {
      for (const { key, ttl, limit, waiting } of groups) {
        for (const { isCounted, resolve } of waiting) {
          resolve(this.local[isCounted ? 'count' : 'peek'](key, ttl, limit));
        }
      }
    }
  }

  private resolve({ key, ttl, limit, waiting }: Group, reply: WindowReply): void {
    const { hits, allowed, endsAt, msLeft } = reply;
    let used = 0;
    for (const { isCounted, resolve } of waiting) {
      const isBlocked = isCounted && used >= allowed;
      if (isCounted && !isBlocked) used++;
      resolve(windowOf({ hits: hits + used, limit, endsAt }, msLeft, isBlocked));
    }
    if (allowed === used) return;
    const advance = {
      ...{ ttl, limit, endsAt, expiresAt: performance.now() + msLeft },
      ...{ hits: hits + used, left: allowed - used },
    };
    this.returnUnused(key, this.advances.get(key));
    this.advances.set(key, advance);
    setTimeout(() => {
      if (this.advances.get(key) !== advance) return;
      this.advances.delete(key);
      this.returnUnused(key, advance);
    }, ADVANCE_MS).unref();
  }

  /** Returns the requests that are left, in the window from which they were taken. */
  private returnUnused(key: string, advance: Advance | undefined): void {
    if (!advance || advance.left === 0 || performance.now() >= advance.expiresAt) return;
    const { ttl, limit, left } = advance;
    advance.left = 0;
    this.redis.run([{ key, ttl, limit, asked: -left }]).catch(() => undefined);
  }
}
