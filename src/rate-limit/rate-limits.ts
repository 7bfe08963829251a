import { Inject, Injectable } from '@nestjs/common';
import { getStorageToken } from '@nestjs/throttler';
import { Settings } from '../config/settings.js';
import { ApiError } from '../errors/api-error.js';
import type { RateLimitStorage, RateWindow } from './rate-limit.storage.js';
import { type Soon, soon } from './soon.js';

/** What is counted apart: reads, writes, and the messages of /mcp that are neither (decisions 4). */
export type Limit = 'reads' | 'writes' | 'messages';

/** Length of a window. */
export const WINDOW_MS = 60_000;

/** Messages a key may send to /mcp in a window, beside its calls of tools. */
const MESSAGES_PER_WINDOW = 600;

/** Counts what callers do, in windows that REST and /mcp share. */
@Injectable()
export class RateLimits {
  /** What was over a limit of a key, or of an address without one. */
  readonly refusals = { reads: 0, writes: 0, messages: 0, address: 0 };
  private readonly most: Readonly<Record<Limit, number>>;

  constructor(
    @Inject(getStorageToken()) private readonly windows: RateLimitStorage,
    settings: Settings,
  ) {
    this.most = {
      reads: settings.readsPerMinute,
      writes: settings.writesPerMinute,
      messages: MESSAGES_PER_WINDOW,
    };
  }

  /**
   * Counts one more, unless the limit of the window is reached.
   * @param caller the id of a key, or an address
   */
  count(limit: Limit, caller: string, refusedAs: Limit | 'address' = limit): Soon<RateWindow> {
    const window = this.windows.count(`${limit}:${caller}`, WINDOW_MS, this.most[limit]);
    return soon(window, (counted) => {
      if (counted.isBlocked) this.refusals[refusedAs]++;
      return counted;
    });
  }

  /** The window as it stands, without counting. */
  peek(limit: Limit, caller: string): Soon<RateWindow> {
    return this.windows.peek(`${limit}:${caller}`, WINDOW_MS, this.most[limit]);
  }
}

/** What takes the headers of an answer. */
interface Answer {
  setHeader(name: string, value: number): unknown;
}

/** Tells the state of a window on an answer. */
export function tellLimit(response: Answer, { totalHits, endsAt, limit }: RateWindow): void {
  response.setHeader('RateLimit-Limit', limit);
  response.setHeader('RateLimit-Remaining', Math.max(0, limit - totalHits));
  response.setHeader('RateLimit-Reset', Math.ceil(endsAt / 1000));
}

/** The refusal of what is over the limit of a window. */
export function tooManyRequests({ limit, timeToBlockExpire }: RateWindow): ApiError {
  return new ApiError('rate_limit_exceeded', {
    message: `The limit is ${limit} in ${WINDOW_MS / 1000} seconds; the window ends in ${timeToBlockExpire} seconds.`,
    headers: { 'Retry-After': String(timeToBlockExpire) },
  });
}
