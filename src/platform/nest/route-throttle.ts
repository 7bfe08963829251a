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
import { isCountedElsewhere, limitNameOf, RequestLimits } from '../http/guards/request-limits.js';
import { type ApiRequest, requestOf, responseOf } from '../http/request/api-request.js';
import type { RoutePlan } from '../http/routes/route-plan.js';
import { type MaybePromise } from '../maybe-promise.js';

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
    const { req, res } = requestResponse(context);
    const isPublic = plan.countedBy === 'nothing';
    const countShared = () => (isPublic ? undefined : this.requests.count(req, res));
    const isShared = !isPublic && (!req.state.call || isCountedElsewhere(req));
    if (isShared || this.shared.has(plan)) return countShared();
    return this.ownLimitOf(context, plan).then((own) => {
      if (!own) return countShared();
      if (own !== 'skipped') return this.countOwn(own, context);
      return isPublic ? undefined : this.requests.show(req, res, limitNameOf(req));
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

  private async ownLimitOf(
    context: ExecutionContext,
    plan: RoutePlan,
  ): Promise<OwnLimit | undefined> {
    const found: ThrottlerRequest[] = [];
    this.found.set(context, found);
    await super.canActivate(context);
    if (found.length === THROTTLERS.length && !found.some((one) => this.isOwn(one))) {
      this.shared.add(plan);
      return undefined;
    }
    const names = [limitNameOf(requestResponse(context).req), 'default'];
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

function requestResponse(context: ExecutionContext) {
  return { req: requestOf(context), res: responseOf(context) };
}

function isPositiveInteger(value: number): boolean {
  return Number.isInteger(value) && value > 0;
}
