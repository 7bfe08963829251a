import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  InjectThrottlerOptions,
  InjectThrottlerStorage,
  ThrottlerGuard,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
} from '@nestjs/throttler';
import type { Response } from 'express';
import { Settings } from '../config/settings.js';
import { ApiError } from '../errors/api-error.js';
import type { ApiRequest } from '../tenancy/actor.js';
import type { RateLimitStorage, RateWindow } from './rate-limit.storage.js';
import { READS, type Throttler, WINDOW_MS } from './throttlers.js';

/**
 * Counts each request by its key or, without a valid one, by its address; tells the state of the
 * window on every answer; refuses what is over the limit and what needed a key (decisions 4).
 */
@Injectable()
export class RateLimitGuard extends ThrottlerGuard {
  /** Requests that were over a limit: the reads or writes of a key, or an address without one. */
  readonly refusals = { reads: 0, writes: 0, address: 0 };

  constructor(
    @InjectThrottlerOptions() options: ThrottlerModuleOptions,
    @InjectThrottlerStorage() private readonly windows: RateLimitStorage,
    reflector: Reflector,
    private readonly settings: Settings,
  ) {
    super(options, windows, reflector);
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const { req } = requestResponse(context);
    if (req.isPage) return true;
    if (req.method === 'OPTIONS') await this.tell(context);
    else await super.canActivate(context);
    if (req.keyRequired && !req.actor) throw new ApiError('unauthorized');
    return true;
  }

  /** Tells the state of the window on an answer to a request that does not count. */
  async tell(context: ExecutionContext): Promise<void> {
    const { req, res } = requestResponse(context);
    const window = await this.windows.peek(await this.windowOf(req, READS), WINDOW_MS);
    writeHeaders(res, window, this.settings.readsPerMinute);
  }

  protected override async handleRequest(props: ThrottlerRequest): Promise<boolean> {
    const { context, limit, ttl, throttler } = props;
    const { req, res } = requestResponse(context);
    const key = await this.windowOf(req, throttler.name ?? READS);
    const window = await this.windows.increment(key, ttl, limit);
    writeHeaders(res, window, limit);
    if (!window.isBlocked) return true;
    this.refusals[req.actor ? (throttler.name as Throttler) : 'address']++;
    throw new ApiError('rate_limit_exceeded', {
      message: `Too many requests: the limit is ${limit} in ${ttl / 1000} seconds.`,
      headers: { 'Retry-After': String(window.timeToBlockExpire) },
    });
  }

  private async windowOf(req: ApiRequest, throttler: string): Promise<string> {
    const caller = req.actor ? req.actor.key.id : await this.getTracker(req);
    return `${throttler}:${caller}`;
  }
}

function requestResponse(context: ExecutionContext) {
  const http = context.switchToHttp();
  return { req: http.getRequest<ApiRequest>(), res: http.getResponse<Response>() };
}

function writeHeaders(res: Response, { totalHits, endsAt }: RateWindow, limit: number): void {
  res.setHeader('RateLimit-Limit', limit);
  res.setHeader('RateLimit-Remaining', Math.max(0, limit - totalHits));
  res.setHeader('RateLimit-Reset', Math.ceil(endsAt / 1000));
}
