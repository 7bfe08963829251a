import { Inject, Injectable } from '@nestjs/common';
import { getStorageToken } from '@nestjs/throttler';
import { Settings } from '../config/settings.js';
import { ApiError } from '../errors/api-error.js';
import type { RateLimitStorage, RateWindow } from './rate-limit.storage.js';
import { type MaybePromise, mapMaybePromise } from './maybe-promise.js';

/**
 * What is counted apart: reads, writes, and the messages of /mcp that are neither
 * (docs/contract/limits.md#rate-limits).
 */
export type LimitName = 'reads' | 'writes' | 'messages';

/** Whose limit was reached: of a key, or of an address that sends no valid one. */
type RefusalKind = LimitName | 'address';

/** Length of a window. */
export const WINDOW_MS = 60_000;

/** Messages a key may send to /mcp in a window, beside its calls of tools. */
const MESSAGES_PER_WINDOW = 600;

/** Counts what callers do, in windows that REST and /mcp share. */
@Injectable()
export class RateLimits {
  /** What was over a limit of a key, or of an address without one. */
  readonly refusals = { reads: 0, writes: 0, messages: 0, address: 0 };
  private readonly maximums: Readonly<Record<LimitName, number>>;

  constructor(
    @Inject(getStorageToken()) private readonly windows: RateLimitStorage,
    settings: Settings,
  ) {
    this.maximums = {
      reads: settings.readsPerMinute,
      writes: settings.writesPerMinute,
      messages: MESSAGES_PER_WINDOW,
    };
  }

  /**
   * Counts one more, unless the limit of the window is reached.
   * @param caller the id of a key, or an address
   */
  count(
    limit: LimitName,
    caller: string,
    refusedAs: RefusalKind = limit,
  ): MaybePromise<RateWindow> {
    const window = this.windows.count(`${limit}:${caller}`, WINDOW_MS, this.maximums[limit]);
    return mapMaybePromise(window, (counted) => {
      if (counted.isBlocked) this.refusals[refusedAs]++;
      return counted;
    });
  }

  /** The window as it stands, without counting. */
  peek(limit: LimitName, caller: string): MaybePromise<RateWindow> {
    return this.windows.peek(`${limit}:${caller}`, WINDOW_MS, this.maximums[limit]);
  }
}

/** What takes the headers of an answer. */
interface HeaderTarget {
  setHeader(name: string, value: number): unknown;
}

/** What is told of a window. */
type WindowState = Pick<RateWindow, 'totalHits' | 'endsAt' | 'limit'>;

/** The requests that a window still has room for. */
export function remainingHits({ totalHits, limit }: WindowState): number {
  return Math.max(0, limit - totalHits);
}

/** Tells the state of a window on an answer. */
export function setRateLimitHeaders(response: HeaderTarget, window: WindowState): void {
  response.setHeader('RateLimit-Limit', window.limit);
  response.setHeader('RateLimit-Remaining', remainingHits(window));
  response.setHeader('RateLimit-Reset', Math.ceil(window.endsAt / 1000));
}

/** What is counted, in messages. */
const DESCRIPTIONS: Readonly<Record<RefusalKind, string>> = {
  reads: 'reads',
  writes: 'writes',
  messages: 'messages',
  address: 'requests without a valid key',
};

/** The refusal of what is over the limit of a window. */
export function tooManyRequests(
  { limit, timeToBlockExpire }: RateWindow,
  counted: RefusalKind,
): ApiError {
  const window = `${limit} ${DESCRIPTIONS[counted]} in ${WINDOW_MS / 1000} seconds`;
  return new ApiError('rate_limit_exceeded', {
    message: `The limit of ${window} is reached; the window ends in ${timeToBlockExpire} seconds.`,
    headers: { 'Retry-After': String(timeToBlockExpire) },
  });
}
