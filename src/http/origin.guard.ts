import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Settings } from '../config/settings.js';
import { ApiError } from '../errors/api-error.js';
import { RateLimitGuard } from '../rate-limit/rate-limit.guard.js';
import { type Soon, soon } from '../rate-limit/soon.js';
import type { ApiRequest } from '../tenancy/actor.js';

const MCP_PATHS = /^\/mcp(\/|$)/;
const LOOPBACK = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/** Keeps pages of other origins from /mcp, whatever name they reach it by (decisions 2 and 6). */
@Injectable()
export class OriginGuard implements CanActivate {
  constructor(
    private readonly settings: Settings,
    private readonly limits: RateLimitGuard,
  ) {}

  canActivate(context: ExecutionContext): Soon<boolean> {
    const { path, headers } = context.switchToHttp().getRequest<ApiRequest>();
    const { origin } = headers;
    if (origin === undefined || !MCP_PATHS.test(path) || this.isAllowed(origin)) return true;
    return soon(this.limits.tell(context), () => {
      throw new ApiError('origin_not_allowed');
    });
  }

  private isAllowed(origin: string): boolean {
    const { mcpAllowedOrigins } = this.settings;
    if (mcpAllowedOrigins.includes('loopback') && LOOPBACK.test(origin)) return true;
    return mcpAllowedOrigins.includes(origin);
  }
}
