import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { ApiError } from '../../errors/api-error.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { type MaybePromise, mapMaybePromise } from '../../maybe-promise.js';
import { type ApiRequest, isMcpRequest, timesSent } from '../request/api-request.js';
import { RoutePlans } from '../route-plans.js';

const LOOPBACK = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/**
 * Checks `Host`, `Expect` and `Origin` first (docs/contract/errors.md#order-of-checks). Sets the plan of the route on the
 * request, for everything that follows.
 */
@Injectable()
export class HeadersGuard implements CanActivate {
  constructor(
    private readonly settings: Settings,
    private readonly plans: RoutePlans,
    private readonly limits: RateLimitGuard,
  ) {}

  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const request = context.switchToHttp().getRequest<ApiRequest>();
    request.state.plan = this.plans.of(context);
    const refusal = this.refusalOf(request);
    if (!refusal) return true;
    return mapMaybePromise(this.limits.setHeaders(context), () => {
      throw refusal;
    });
  }

  private refusalOf(request: ApiRequest): ApiError | undefined {
    const refusal = refusalOfHeaders(request);
    if (refusal) return refusal;
    const { origin } = request.headers;
    // Protects /mcp against DNS rebinding.
    if (origin === undefined || !isMcpRequest(request)) return undefined;
    return this.isAllowed(origin) ? undefined : new ApiError('origin_not_allowed');
  }

  private isAllowed(origin: string): boolean {
    const { mcpAllowedOrigins } = this.settings;
    if (mcpAllowedOrigins.includes('loopback') && LOOPBACK.test(origin)) return true;
    return mcpAllowedOrigins.includes(origin);
  }
}

const CONTINUE = '100-continue';

/** @returns why a request is refused for its `Host` or `Expect`; undefined if it is not */
export function refusalOfHeaders(request: ApiRequest): ApiError | undefined {
  if (!hasOneHost(request)) {
    return new ApiError('bad_request', { message: 'Send exactly one Host header.' });
  }
  const { expect = CONTINUE } = request.headers;
  if (expect.toLowerCase() === CONTINUE) return undefined;
  const message = `The only supported Expect is ${CONTINUE}.`;
  return new ApiError('bad_request', { status: 417, message });
}

function hasOneHost(request: ApiRequest): boolean {
  const hosts = timesSent(request, 'host');
  return hosts === 1 || (hosts === 0 && request.httpVersion === '1.0');
}
