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
import {
  type RateLimitOptions,
  RateLimits,
  setRateLimitHeaders,
  tooManyRequests,
} from '../access/limits/rate-limits.js';
import { limitNameOf, RequestLimits } from '../http/guards/request-limits.js';
import { type ApiRequest, requestOf, responseOf } from '../http/request/api-request.js';
import type { RoutePlan } from '../http/routes/route-plan.js';
import { type MaybePromise } from '../maybe-promise.js';

/** Passed to the inherited guard as the limit of routes that declare none: the shared limit depends on the key. */
const SHARED = Infinity;

/** For each name that `@Throttle` and `@SkipThrottle` can have: all requests, GET and HEAD, or the others. */
const THROTTLERS: readonly ThrottlerOptions[] = ['default', 'reads', 'writes'].map((name) => ({
  name,
  ttl: SHARED,
  limit: SHARED,
}));

/**
 * Counts requests to the routes of a team as `@Throttle()` and `@SkipThrottle()` declare, and the others against the
 * shared limits. A public route is counted only if it declares a limit.
 *
 * The inherited guard counts nothing: it only reads the limits, which it passes to `handleRequest()`.
 */
@Injectable()
export class RouteThrottle extends ThrottlerGuard {
  /** The limits that the inherited guard has passed to `handleRequest()`, by the request whose route it is reading. */
  private readonly found = new WeakMap<ExecutionContext, ThrottlerRequest[]>();
  /** The routes that were found to have the shared limits. */
  private readonly shared = new Set<RoutePlan>();

  constructor(
    @InjectThrottlerOptions() options: RateLimitOptions,
    @InjectThrottlerStorage() storage: ThrottlerStorage,
    reflector: Reflector,
    private readonly limits: RateLimits,
    private readonly requests: RequestLimits,
  ) {
    super({ ...options, throttlers: [...THROTTLERS] }, storage, reflector);
  }

  /** @throws ApiError `rate_limit_exceeded` */
  count(context: ExecutionContext, plan: RoutePlan): MaybePromise<void> {
    return this.shared.has(plan) ? this.countShared(context, plan) : this.countOwn(context, plan);
  }

  /** The inherited guard calls this with the limit of each name that the route does not skip. */
  protected override handleRequest(request: ThrottlerRequest): Promise<boolean> {
    this.found.get(request.context)?.push(request);
    return Promise.resolve(true);
  }

  protected override async getTracker(req: ApiRequest): Promise<string> {
    return req.state.call?.actor.key.id ?? (await super.getTracker(req));
  }

  private countShared(context: ExecutionContext, plan: RoutePlan): MaybePromise<void> {
    if (plan.countedBy === 'nothing') return undefined;
    return this.requests.count(requestOf(context), responseOf(context));
  }

  private async countOwn(context: ExecutionContext, plan: RoutePlan): Promise<void> {
    const found: ThrottlerRequest[] = [];
    this.found.set(context, found);
    await super.canActivate(context);
    if (found.length === THROTTLERS.length && !found.some((one) => this.isOwn(one))) {
      this.shared.add(plan);
    }
    const [request, response] = [requestOf(context), responseOf(context)];
    const name = limitNameOf(request);
    const limits = [name, 'default'].map((each) =>
      found.find(({ throttler }) => throttler.name === each),
    );
    if (limits.includes(undefined)) {
      return plan.countedBy === 'nothing' ? undefined : this.requests.show(request, response, name);
    }
    const own = limits.find((limit) => limit && this.isOwn(limit));
    if (!own) return this.countShared(context, plan);
    const { call } = request.state;
    const shared = this.limits.limitOf(name, call?.actor);
    const limit = own.limit === SHARED ? shared.limit : own.limit;
    const ttl = own.ttl === SHARED ? shared.ttl : own.ttl;
    const key = own.generateKey(context, await own.getTracker(request, context), name);
    const counted = call ? name : 'address';
    const window = await this.limits.countIn(key, { ttl, limit }, counted);
    setRateLimitHeaders(response, window);
    if (window.isBlocked) throw tooManyRequests(window, counted, ttl);
  }

  private isOwn({ limit, ttl, getTracker, generateKey }: ThrottlerRequest): boolean {
    const own = this.commonOptions;
    const hasFunctions = getTracker !== own.getTracker || generateKey !== own.generateKey;
    return limit !== SHARED || ttl !== SHARED || hasFunctions;
  }
}
