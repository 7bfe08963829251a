import type { MaybePromise } from '../../maybe-promise.js';
import {
  MemoryRateLimitStorage,
  type RateLimitStorage,
  type RateWindow,
  windowOf,
} from './rate-limit.storage.js';
import { RedisConnection } from './redis-connection.js';

/**
 * Uses windows in Redis, so that the limits are exact over all instances. While Redis does not reply, the windows of
 * this process are used.
 */
export class SharedRateLimitStorage implements RateLimitStorage {
  private readonly local = new MemoryRateLimitStorage();
  private readonly redis: RedisConnection;

  constructor(url: string) {
    this.redis = new RedisConnection(url);
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

  count(key: string, ttl: number, limit: number): MaybePromise<RateWindow> {
    if (!this.isOpen) return this.local.count(key, ttl, limit);
    return this.inRedis(key, ttl, limit, 1).catch(() => this.local.count(key, ttl, limit));
  }

  peek(key: string, ttl: number, limit: number): MaybePromise<RateWindow> {
    if (!this.isOpen) return this.local.peek(key, ttl, limit);
    return this.inRedis(key, ttl, limit, 0).catch(() => this.local.peek(key, ttl, limit));
  }

  private async inRedis(
    key: string,
    ttl: number,
    limit: number,
    requests: 0 | 1,
  ): Promise<RateWindow> {
    const { hits, endsAt, msLeft, isBlocked } = await this.redis.window(key, ttl, limit, requests);
    return windowOf({ hits, limit, endsAt }, msLeft, isBlocked);
  }
}
