import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import type { Response } from 'express';
import { type ApiRequest, isRead } from '../http/request/api-request.js';
import type { RateWindow } from './rate-limit.storage.js';
import { RateLimits, setRateLimitHeaders, tooManyRequests } from './rate-limits.js';
import { type MaybePromise, mapMaybePromise } from './maybe-promise.js';

/**
 * Applies the rate limits (docs/contract/limits.md). It counts each request by its key or, without a
 * valid key, by its address, and sets the `RateLimit-*` headers. Its methods return a promise only if
 * the storage does.
 */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() storage: ThrottlerStorage,
    reflector: Reflector,
    private readonly limits: RateLimits,
  ) {
    super(options, storage, reflector);
  }

  /** The throttler declares a promise, but Nest accepts a plain value too. */
  override canActivate(context: ExecutionContext): Promise<boolean> {
    const { state } = context.switchToHttp().getRequest<ApiRequest>();
    if (state.countedBy === 'nothing') return true as unknown as Promise<boolean>;
    return mapMaybePromise(this.count(context), () => true) as Promise<boolean>;
  }

  /**
   * Counts the request and sets the headers. A request that its handler counts and a preflight only
   * get the headers.
   * @throws ApiError `rate_limit_exceeded`
   */
  count(context: ExecutionContext): MaybePromise<void> {
    const { req, res } = requestResponse(context);
    const { actor, countedBy } = req.state;
    if (req.method === 'OPTIONS' || (countedBy === 'handler' && actor)) {
      return this.setHeaders(context);
    }
    const limit = actor && !isRead(req) ? 'writes' : 'reads';
    const counted = actor ? limit : 'address';
    return mapMaybePromise(this.trackerOf(req), (tracker) =>
      mapMaybePromise(this.limits.count(limit, tracker, counted), (window: RateWindow) => {
        setRateLimitHeaders(res, window);
        if (window.isBlocked) throw tooManyRequests(window, counted);
      }),
    );
  }

  /** Sets the headers without counting the request. */
  setHeaders(context: ExecutionContext): MaybePromise<void> {
    const { req, res } = requestResponse(context);
    return mapMaybePromise(this.trackerOf(req), (tracker) =>
      mapMaybePromise(this.limits.peek('reads', tracker), (window) => {
        setRateLimitHeaders(res, window);
      }),
    );
  }

  private trackerOf(req: ApiRequest): MaybePromise<string> {
    return req.state.actor ? req.state.actor.key.id : this.getTracker(req);
  }
}

function requestResponse(context: ExecutionContext) {
  const http = context.switchToHttp();
  return { req: http.getRequest<ApiRequest>(), res: http.getResponse<Response>() };
}
