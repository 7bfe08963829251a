import { type ExecutionContext, Injectable, type Type } from '@nestjs/common';
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
import { type RouteLimit, type RouteLimits, routeLimitsOf } from './route-limits.js';
import type { RateWindow } from './rate-limit.storage.js';
import { RateLimits, setRateLimitHeaders, tooManyRequests } from './rate-limits.js';
import type { Actor } from '../tenancy/actor.js';
import { type MaybePromise, mapMaybePromise } from './maybe-promise.js';

type Handler = () => unknown;

/**
 * Applies the rate limits (docs/contract/limits.md). It counts each request by its key or, without a
 * valid key, by its address, and sets the `RateLimit-*` headers. With a valid key, its methods return a
 * promise only if the storage does or the route has a limit of its own.
 */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  /** The limits of routes that declare some, by controller and handler. */
  private readonly routes = new Map<Type<unknown>, Map<Handler, RouteLimits>>();

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
    const { req } = requestResponse(context);
    const own = this.ownLimitOf(context);
    if (req.state.countedBy === 'nothing') {
      if (!own || own === 'skipped') return true as unknown as Promise<boolean>;
      return this.countOwn(own, context);
    }
    return mapMaybePromise(this.count(context), () => true) as Promise<boolean>;
  }

  /** @throws Error with a predicate that follows the name of the route, if its limits cannot work */
  assertLimits(controller: Type<unknown>, handler: Handler): void {
    const limits = routeLimitsOf(controller, handler);
    if (!limits) return;
    const handlers = this.routes.get(controller) ?? new Map<Handler, RouteLimits>();
    this.routes.set(controller, handlers.set(handler, limits));
  }

  /**
   * Counts the request and sets the headers. Preflight requests, and requests that their handler counts,
   * only get the headers.
   * @throws ApiError `rate_limit_exceeded`
   */
  count(context: ExecutionContext): MaybePromise<void> {
    const { req, res } = requestResponse(context);
    const { actor, countedBy } = req.state;
    if (req.method === 'OPTIONS' || (countedBy === 'handler' && actor)) {
      return this.setHeaders(context);
    }
    const own = actor && this.ownLimitOf(context);
    if (own === 'skipped') return this.setHeaders(context, isRead(req) ? 'reads' : 'writes');
    if (own) return this.countOwn(own, context).then(() => undefined);
    const limit = actor && !isRead(req) ? 'writes' : 'reads';
    const counted = actor ? limit : 'address';
    return mapMaybePromise(this.callerOf(req), (caller) =>
      mapMaybePromise(this.limits.count(limit, caller, counted), (window: RateWindow) => {
        setRateLimitHeaders(res, window);
        if (window.isBlocked) throw tooManyRequests(window, counted);
      }),
    );
  }

  /** Sets the headers without counting the request. */
  setHeaders(context: ExecutionContext, limit: 'reads' | 'writes' = 'reads'): MaybePromise<void> {
    const { req, res } = requestResponse(context);
    return mapMaybePromise(this.callerOf(req), (caller) =>
      mapMaybePromise(this.limits.peek(limit, caller), (window) => {
        setRateLimitHeaders(res, window);
      }),
    );
  }

  private ownLimitOf(context: ExecutionContext): RouteLimits['reads'] {
    if (this.routes.size === 0) return undefined;
    const route = this.routes.get(context.getClass())?.get(context.getHandler() as Handler);
    return route?.[isRead(requestResponse(context).req) ? 'reads' : 'writes'];
  }

  /** Counts a request of a route with a limit of its own. */
  private async countOwn(own: RouteLimit, context: ExecutionContext): Promise<boolean> {
    const { req, res } = requestResponse(context);
    const name = isRead(req) ? 'reads' : 'writes';
    const shared = this.limits.limitOf(name, req.state.actor);
    const [limit, ttl, tracker] = await Promise.all([
      typeof own.limit === 'function' ? own.limit(context) : (own.limit ?? shared.limit),
      typeof own.ttl === 'function' ? own.ttl(context) : (own.ttl ?? shared.ttl),
      own.getTracker?.(req, context) ?? req.state.actor?.key.id ?? this.getTracker(req),
    ]);
    const counted = req.state.actor ? name : 'address';
    const window = await this.limits.countIn(`${own.key}:${tracker}`, { ttl, limit }, counted);
    setRateLimitHeaders(res, window);
    if (window.isBlocked) throw tooManyRequests(window, counted, ttl);
    return true;
  }

  private callerOf(req: ApiRequest): MaybePromise<Actor | string> {
    return req.state.actor ?? this.getTracker(req);
  }
}

function requestResponse(context: ExecutionContext) {
  const http = context.switchToHttp();
  return { req: http.getRequest<ApiRequest>(), res: http.getResponse<Response>() };
}
