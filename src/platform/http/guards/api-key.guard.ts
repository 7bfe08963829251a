import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { type MaybePromise, mapMaybePromise } from '../../maybe-promise.js';
import { type ApiRequest, isMcpRequest, isRead, timesSent } from '../request/api-request.js';
import type { Call } from '../../data/call.js';
import type { AccessTokens } from '../../access/access-tokens.js';
import { KEY_PREFIX } from '../../access/api-key-format.js';
import { Authenticator } from '../../access/authenticator.js';

const BEARER = /^bearer +([!-~]+) *$/i;

const KEYED_PATHS = /^\/(api|mcp)(\/|$)/;

/**
 * Authenticates the caller. A request without a valid key counts against the limit of its address, and
 * its response has the rate limit headers.
 */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly limits: RateLimitGuard,
  ) {}

  /** @throws ApiError `unauthorized`, `rate_limit_exceeded`, or the failure of the key's lookup */
  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const request = context.switchToHttp().getRequest<ApiRequest>();
    const access = request.state.plan?.access;
    // InputGuard verifies the sender of a webhook, and until then the address is counted.
    if (access === 'public' || access === 'webhook') return true;
    const key = bearerToken(request);
    const isCredential = key !== undefined && this.authenticator.isCredential(key);
    const found = isCredential ? this.authenticate(key, context) : undefined;
    const { accessTokens } = this.authenticator;
    if (accessTokens && isMcpRequest(request)) {
      request.state.challenge = challengeOf(accessTokens, request.originalUrl, key !== undefined);
    }
    return mapMaybePromise(found, (call) => {
      request.state.call = call;
      if (call || (access === 'unknown-route' && !requiresKey(request))) return true;
      return mapMaybePromise(this.limits.count(context), () => {
        throw new ApiError('unauthorized', {
          message: isCredential ? undefined : explainMissingKey(request),
        });
      });
    });
  }

  private authenticate(key: string, context: ExecutionContext): MaybePromise<Call | undefined> {
    const request = context.switchToHttp().getRequest<ApiRequest>();
    const call = this.authenticator.authenticate(key, isMcpRequest(request));
    if (!(call instanceof Promise)) return call;
    return call.catch(async (error: unknown) => {
      await this.limits.setHeaders(context);
      // Clients expect `create_failed` for a failed write, also if only the lookup of the key failed.
      const isLookup = error instanceof ApiError && error.code === 'query_failed';
      throw isLookup && !isRead(request) && request.state.plan?.countedBy !== 'handler'
        ? new ApiError('create_failed', { cause: error })
        : error;
    });
  }
}

/**
 * The parameters of `WWW-Authenticate` by which a client of /mcp finds out how to sign in
 * (docs/contract/oauth.md#challenges).
 */
function challengeOf({ resource }: AccessTokens, url: string, hasToken: boolean): string {
  const error = hasToken ? ', error="invalid_token"' : '';
  const scope = resource.scopes().join(' ');
  return `${error}, resource_metadata="${resource.metadataUrlOf(url)}", scope="${scope}"`;
}

/** Whether a request to an unknown route gets 401 without a key (docs/contract/endpoints.md#unknown-routes). */
export function requiresKey({ method, path }: Pick<ApiRequest, 'method' | 'path'>): boolean {
  return method !== 'OPTIONS' && KEYED_PATHS.test(path);
}

/** Explains why the `Authorization` header contains no key. */
function explainMissingKey({ headers }: ApiRequest): string {
  const form = `Authorization: Bearer ${KEY_PREFIX}...`;
  return headers.authorization === undefined
    ? `The API key is missing. Send it in the header "${form}".`
    : `The Authorization header does not hold an API key. Send it once, in the form "${form}".`;
}

/** The token of the one `Authorization: Bearer` header. */
function bearerToken(request: ApiRequest): string | undefined {
  const { authorization } = request.headers;
  if (authorization === undefined || timesSent(request, 'authorization') > 1) return undefined;
  return BEARER.exec(authorization)?.[1];
}
