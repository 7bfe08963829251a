import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  type ThrottlerOptions,
  type ThrottlerRequest,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import type { Response } from 'express';
import { type ApiRequest, isRead } from '../request/api-request.js';
import type { RoutePlan } from '../routes/route-plan.js';
import {
  type RateLimitOptions,
  RateLimits,
  setRateLimitHeaders,
  tooManyRequests,
} from '../../access/limits/rate-limits.js';
import type { Actor } from '../../data/call.js';
import { type MaybePromise, mapMaybePromise } from '../../maybe-promise.js';

/** The limit of a request whose route declares another one: its own, or none. */
type OwnLimit = ThrottlerRequest | 'skipped';

/** Passed to the inherited guard as the limit of routes that declare none: the shared limit depends on the key. */
const SHARED = Infinity;

/** For each name that `@Throttle` and `@SkipThrottle` can have: all requests, GET and HEAD, or the others. */
const THROTTLERS: readonly ThrottlerOptions[] = ['default', 'reads', 'writes'].map((name) => ({
  name,
  ttl: SHARED,
  limit: SHARED,
}));

/**
 * Applies the rate limits (docs/contract/limits.md). It counts each request by its key or, without a
 * valid key, by its address, and sets the `RateLimit-*` headers. Public routes are counted only if they declare a limit. If
 * `ApiKeyGuard` has refused the request, this guard sets the headers of the shared limit and throws the refusal.
 *
 * The inherited guard counts nothing: it only reads the limits of `@Throttle` and `@SkipThrottle`, which it passes to
 * `handleRequest()`. On other routes, with a valid key, the methods return a promise only if the storage does.
 */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  /** The limits that the inherited guard has passed to `handleRequest()`, by the request whose route it is reading. */
  private readonly found = new WeakMap<ExecutionContext, ThrottlerRequest[]>();
  /** The routes that were found to have the shared limits. Undefined stands for paths without a route, which have none of their own. */
  private readonly shared = new Set<RoutePlan | undefined>();

  constructor(
    @InjectThrottlerOptions() options: RateLimitOptions,
    @InjectThrottlerStorage() storage: ThrottlerStorage,
    reflector: Reflector,
    private readonly limits: RateLimits,
  ) {
    super({ ...options, throttlers: [...THROTTLERS] }, storage, reflector);
  }

  /** The throttler declares a promise, but Nest accepts a plain value too. */
  override canActivate(context: ExecutionContext): Promise<boolean> {
    return mapMaybePromise(this.countByRoute(context), () => true) as Promise<boolean>;
  }

  /**
   * Counts the request against the shared limits and sets the headers. Preflight requests, and requests that
   * their handler counts, only get the headers.
   * @throws ApiError `rate_limit_exceeded`
   */
  private count(context: ExecutionContext): MaybePromise<void> {
    const { req, res } = requestResponse(context);
    const actor = req.state.call?.actor;
    if (isCountedElsewhere(req)) return this.setHeaders(context);
    const limit = actor && !isRead(req) ? 'writes' : 'reads';
    const counted = actor ? limit : 'address';
    return mapMaybePromise(this.limits.count(limit, callerOf(req), counted), (window) => {
      setRateLimitHeaders(res, window);
      if (window.isBlocked) throw tooManyRequests(window, counted);
    });
  }

  /** Sets the headers without counting the request. */
  private setHeaders(
    context: ExecutionContext,
    limit: 'reads' | 'writes' = 'reads',
  ): MaybePromise<void> {
    const { req, res } = requestResponse(context);
    return mapMaybePromise(this.limits.peek(limit, callerOf(req)), (window) => {
      setRateLimitHeaders(res, window);
    });
  }

  /** The inherited guard calls this with the limit of each name that the route does not skip. */
  protected override handleRequest(request: ThrottlerRequest): Promise<boolean> {
    this.found.get(request.context)?.push(request);
    return Promise.resolve(true);
  }

  protected override async getTracker(req: ApiRequest): Promise<string> {
    return req.state.call?.actor.key.id ?? (await super.getTracker(req));
  }

  private countByRoute(context: ExecutionContext): MaybePromise<void> {
    const { req } = requestResponse(context);
    const { plan, refusal } = req.state;
    if (refusal) {
      const counted = refusal.isCounted ? this.count(context) : this.setHeaders(context);
      return mapMaybePromise(counted, () => {
        throw refusal.error;
      });
    }
    const isPublic = plan?.countedBy === 'nothing';
    if (!isPublic && (!req.state.call || isCountedElsewhere(req))) return this.count(context);
    const countShared = () => (isPublic ? undefined : this.count(context));
    if (this.shared.has(plan)) return countShared();
    return this.ownLimitOf(context).then((own) => {
      if (!own) return countShared();
      if (own !== 'skipped') return this.countOwn(own, context);
      return isPublic ? undefined : this.setHeaders(context, limitNameOf(req));
    });
  }

  private async ownLimitOf(context: ExecutionContext): Promise<OwnLimit | undefined> {
    const found: ThrottlerRequest[] = [];
    this.found.set(context, found);
    await super.canActivate(context);
    const { req } = requestResponse(context);
    if (found.length === THROTTLERS.length && !found.some((one) => this.isOwn(one))) {
      this.shared.add(req.state.plan);
      return undefined;
    }
    const names = [limitNameOf(req), 'default'];
    const limits = names.map((name) => found.find(({ throttler }) => throttler.name === name));
    if (limits.includes(undefined)) return 'skipped';
    return limits.find((limit) => limit && this.isOwn(limit));
  }

  private isOwn({ limit, ttl, getTracker, generateKey }: ThrottlerRequest): boolean {
    const own = this.commonOptions;
    const hasFunctions = getTracker !== own.getTracker || generateKey !== own.generateKey;
    return limit !== SHARED || ttl !== SHARED || hasFunctions;
  }

  /**
   * Counts a request of a route with a limit of its own.
   * @throws Error if the limit cannot work; a window ends at a fixed time, so a longer block is not possible
   */
  private async countOwn(own: ThrottlerRequest, context: ExecutionContext): Promise<void> {
    const { req, res } = requestResponse(context);
    const name = limitNameOf(req);
    const shared = this.limits.limitOf(name, req.state.call?.actor);
    const limit = own.limit === SHARED ? shared.limit : own.limit;
    const ttl = own.ttl === SHARED ? shared.ttl : own.ttl;
    if (own.blockDuration !== own.ttl)
      throw new Error('@Throttle with blockDuration is not supported');
    if (!isPositiveInteger(limit) || !isPositiveInteger(ttl)) {
      throw new Error(`@Throttle has the limit ${limit} and the ttl ${ttl}, not positive integers`);
    }
    const key = own.generateKey(context, await own.getTracker(req, context), name);
    const counted = req.state.call ? name : 'address';
    const window = await this.limits.countIn(key, { ttl, limit }, counted);
    setRateLimitHeaders(res, window);
    if (window.isBlocked) throw tooManyRequests(window, counted, ttl);
  }
}

/** The actor or, without a valid key, the address. */
function callerOf({ state, ip }: ApiRequest): Actor | string {
  return state.call?.actor ?? String(ip);
}

function requestResponse(context: ExecutionContext) {
  const http = context.switchToHttp();
  return { req: http.getRequest<ApiRequest>(), res: http.getResponse<Response>() };
}

function limitNameOf(req: ApiRequest): 'reads' | 'writes' {
  return isRead(req) ? 'reads' : 'writes';
}

/** Whether the request is a preflight, or one that its handler counts. */
function isCountedElsewhere({ method, state: { call, plan } }: ApiRequest): boolean {
  return method === 'OPTIONS' || (plan?.countedBy === 'handler' && call !== undefined);
}

function isPositiveInteger(value: number): boolean {
  return Number.isInteger(value) && value > 0;
}
