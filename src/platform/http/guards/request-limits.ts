import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { type MaybePromise, mapMaybePromise } from '../../maybe-promise.js';
import { type ApiRequest, isRead } from '../request/api-request.js';
import {
  RateLimits,
  setRateLimitHeaders,
  tooManyRequests,
} from '../../access/limits/rate-limits.js';
import type { Actor } from '../../data/call.js';

/**
 * Counts requests against the shared rate limits, each by its key or, without a valid key, by its address, and sets the
 * `RateLimit-*` headers (docs/contract/limits.md).
 */
@Injectable()
export class RequestLimits {
  constructor(private readonly limits: RateLimits) {}

  /**
   * Counts a request, unless it is counted elsewhere.
   * @throws ApiError `rate_limit_exceeded`
   */
  count(request: ApiRequest, response: Response): MaybePromise<void> {
    if (isCountedElsewhere(request)) return this.show(request, response);
    const { call } = request.state;
    const name = call ? limitNameOf(request) : 'reads';
    const kind = call ? name : 'address';
    return mapMaybePromise(this.limits.count(name, callerOf(request), kind), (window) => {
      setRateLimitHeaders(response, window);
      if (window.isBlocked) throw tooManyRequests(window, kind);
    });
  }

  /** Sets the headers without counting the request. */
  show(
    request: ApiRequest,
    response: Response,
    name: 'reads' | 'writes' = 'reads',
  ): MaybePromise<void> {
    return mapMaybePromise(this.limits.peek(name, callerOf(request)), (window) => {
      setRateLimitHeaders(response, window);
    });
  }
}

/** Whether the request is a preflight, or one that its handler counts. */
function isCountedElsewhere({ method, state: { call, plan } }: ApiRequest): boolean {
  return method === 'OPTIONS' || (plan?.countedBy === 'handler' && call !== undefined);
}

export function limitNameOf(request: ApiRequest): 'reads' | 'writes' {
  return isRead(request) ? 'reads' : 'writes';
}

/** The actor or, without a valid key, the address. */
function callerOf(request: ApiRequest): Actor | string {
  return request.state.call?.actor ?? String(request.ip);
}
