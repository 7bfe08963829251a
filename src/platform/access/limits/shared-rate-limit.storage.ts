import type { MaybePromise } from '../../maybe-promise.js';
import {
  MemoryRateLimitStorage,
  type RateLimitStorage,
  type RateWindow,
} from './rate-limit.storage.js';
import { RedisConnection } from './redis-connection.js';
import type { WindowRequest } from './window-script.js';

/** A request to Redis, and what receives the reply. */
interface PendingRequest extends WindowRequest {
  readonly resolve: (window: MaybePromise<RateWindow>) => void;
}

/**
 * Uses windows in Redis, so that the limits are exact over all instances. The requests of one turn of the
 * event loop share a round trip. While Redis does not reply, the windows of this process are used.
 */
export class SharedRateLimitStorage implements RateLimitStorage {
  private readonly local = new MemoryRateLimitStorage();
  private readonly redis: RedisConnection;
  private pending: PendingRequest[] = [];

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

  count(key: string, ttl: number, limit: number, amount = 1): MaybePromise<RateWindow> {
    if (!this.isOpen) return this.local.count(key, ttl, limit, amount);
    return new Promise((resolve) => {
      if (this.pending.length === 0) setImmediate(() => void this.send());
      this.pending.push({ key, ttl, limit, amount, resolve });
    });
  }

  peek(key: string, ttl: number, limit: number): MaybePromise<RateWindow> {
    return this.count(key, ttl, limit, 0);
  }

  private async send(): Promise<void> {
    const requests = this.pending;
    this.pending = [];
    try {
      const windows = await this.redis.run(requests);
      windows.forEach((window, index) => requests[index]?.resolve(window));
    } catch {
      for (const { key, ttl, limit, amount, resolve } of requests) {
        resolve(this.local.count(key, ttl, limit, amount));
      }
    }
  }
}
