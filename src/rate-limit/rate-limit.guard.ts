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
import { ApiError } from '../errors/api-error.js';
import { type ApiRequest, isRead } from '../tenancy/actor.js';
import type { RateWindow } from './rate-limit.storage.js';
import { RateLimits, setRateLimitHeaders, tooManyRequests } from './rate-limits.js';
import { type MaybePromise, mapMaybePromise } from './maybe-promise.js';

/**
 * Counts each request by its key or, without a valid one, by its address; tells the state of the
 * window on every answer; refuses what is over the limit and what needed a key
 * (docs/contract/limits.md).
 * What the throttler does for each request by its own options is decided here without waiting.
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

  /** A promise only where something has to be waited for, which its type cannot say. */
  override canActivate(context: ExecutionContext): Promise<boolean> {
    return this.handle(context) as Promise<boolean>;
  }

  /** Tells the state of the window on an answer to a request that does not count. */
  setHeaders(context: ExecutionContext): MaybePromise<void> {
    const { req, res } = requestResponse(context);
    return mapMaybePromise(this.trackerOf(req), (caller) =>
      mapMaybePromise(this.limits.peek('reads', caller), (state) => {
        setRateLimitHeaders(res, state);
      }),
    );
  }

  private handle(context: ExecutionContext): MaybePromise<boolean> {
    const { req, res } = requestResponse(context);
    if (req.isPage) return true;
    const isFree = req.method === 'OPTIONS' || (req.isCountedLater && req.actor);
    const counted = isFree ? this.setHeaders(context) : this.count(req, res);
    return mapMaybePromise(counted, () => {
      if (req.keyRequired && !req.actor)
        throw new ApiError('unauthorized', { message: req.keyProblem });
      return true;
    });
  }

  /** Reads and writes of a key are counted apart; requests without a valid key count as reads. */
  private count(req: ApiRequest, res: Response): MaybePromise<void> {
    const limit = req.actor && !isRead(req) ? 'writes' : 'reads';
    const refusedAs = req.actor ? limit : 'address';
    return mapMaybePromise(this.trackerOf(req), (caller) =>
      mapMaybePromise(this.limits.count(limit, caller, refusedAs), (state: RateWindow) => {
        setRateLimitHeaders(res, state);
        if (state.isBlocked) throw tooManyRequests(state, refusedAs);
      }),
    );
  }

  private trackerOf(req: ApiRequest): MaybePromise<string> {
    return req.actor ? req.actor.key.id : this.getTracker(req);
  }
}

function requestResponse(context: ExecutionContext) {
  const http = context.switchToHttp();
  return { req: http.getRequest<ApiRequest>(), res: http.getResponse<Response>() };
}
