import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import type { Response } from 'express';
import { ApiError } from '../errors/api-error.js';
import type { ApiRequest } from '../tenancy/actor.js';
import { type Limit, RateLimits, tellLimit, tooManyRequests } from './rate-limits.js';

/**
 * Counts each request by its key or, without a valid one, by its address; tells the state of the
 * window on every answer; refuses what is over the limit and what needed a key (decisions 4).
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

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const { req } = requestResponse(context);
    if (req.isPage) return true;
    if (req.method === 'OPTIONS' || (req.isCountedLater && req.actor)) await this.tell(context);
    else await super.canActivate(context);
    if (req.keyRequired && !req.actor) throw new ApiError('unauthorized');
    return true;
  }

  /** Tells the state of the window on an answer to a request that does not count. */
  async tell(context: ExecutionContext): Promise<void> {
    const { req, res } = requestResponse(context);
    tellLimit(res, await this.limits.peek('reads', await this.callerOf(req)));
  }

  protected override async handleRequest({
    context,
    throttler,
  }: ThrottlerRequest): Promise<boolean> {
    const { req, res } = requestResponse(context);
    const limit = throttler.name as Limit;
    const refusedAs = req.actor ? limit : 'address';
    const state = await this.limits.count(limit, await this.callerOf(req), refusedAs);
    tellLimit(res, state);
    if (state.isBlocked) throw tooManyRequests(state);
    return true;
  }

  private async callerOf(req: ApiRequest): Promise<string> {
    return req.actor ? req.actor.key.id : this.getTracker(req);
  }
}

function requestResponse(context: ExecutionContext) {
  const http = context.switchToHttp();
  return { req: http.getRequest<ApiRequest>(), res: http.getResponse<Response>() };
}
