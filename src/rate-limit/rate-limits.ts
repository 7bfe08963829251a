import { Inject, Injectable } from '@nestjs/common';
import { getStorageToken } from '@nestjs/throttler';
import { Settings } from '../config/settings.js';
import { ApiError } from '../errors/api-error.js';
import type { RateLimitStorage, RateWindow } from './rate-limit.storage.js';
import { type Soon, soon } from './soon.js';

/**
 * What is counted apart: reads, writes, and the messages of /mcp that are neither
 * (docs/contract/limits.md#rate-limits).
 */
export type Limit = 'reads' | 'writes' | 'messages';

/** Whose limit was reached: of a key, or of an address that sends no valid one. */
type Counted = Limit | 'address';

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
  count(limit: Limit, caller: string, refusedAs: Counted = limit): Soon<RateWindow> {
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

/** What is told of a window. */
type WindowState = Pick<RateWindow, 'totalHits' | 'endsAt' | 'limit'>;

/** The requests that a window still has room for. */
export function remainingIn({ totalHits, limit }: WindowState): number {
  return Math.max(0, limit - totalHits);
}

/** Tells the state of a window on an answer. */
export function tellLimit(response: Answer, window: WindowState): void {
  response.setHeader('RateLimit-Limit', window.limit);
  response.setHeader('RateLimit-Remaining', remainingIn(window));
  response.setHeader('RateLimit-Reset', Math.ceil(window.endsAt / 1000));
}

/** What is counted, in messages. */
const COUNTED: Readonly<Record<Counted, string>> = {
  reads: 'reads',
  writes: 'writes',
  messages: 'messages',
  address: 'requests without a valid key',
};

/** The refusal of what is over the limit of a window. */
export function tooManyRequests(
  { limit, timeToBlockExpire }: RateWindow,
  counted: Counted,
): ApiError {
  const window = `${limit} ${COUNTED[counted]} in ${WINDOW_MS / 1000} seconds`;
  return new ApiError('rate_limit_exceeded', {
    message: `The limit of ${window} is reached; the window ends in ${timeToBlockExpire} seconds.`,
    headers: { 'Retry-After': String(timeToBlockExpire) },
  });
}
