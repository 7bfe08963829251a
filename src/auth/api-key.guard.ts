import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiError } from '../errors/api-error.js';
import { RateLimitGuard } from '../rate-limit/rate-limit.guard.js';
import type { MaybePromise } from '../rate-limit/maybe-promise.js';
import { type Actor, type ApiRequest, isRead, timesSent } from '../tenancy/actor.js';
import { ACCESS, type Access } from './access.js';
import { KEY_PREFIX } from './api-key-format.js';
import { Authenticator } from './authenticator.js';

const BEARER = /^bearer +([!-~]+) *$/i;

const KEYED_PATHS = /^\/(api|mcp)(\/|$)/;

/** Finds out who asks; the rate limit, which counts strangers too, then refuses them. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly limits: RateLimitGuard,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const request = context.switchToHttp().getRequest<ApiRequest>();
    const access = this.reflector.get<Access>(ACCESS, context.getHandler());
    request.isPage = access === 'public';
    if (request.isPage) return true;
    request.isCountedLater = access === 'own-protocol';
    request.keyRequired = access !== 'unknown-route' || isBehindKeys(request);
    const key = bearerToken(request);
    if (!key?.startsWith(KEY_PREFIX)) {
      request.keyProblem = keyProblemOf(request);
      return true;
    }
    const found = this.authenticator.authenticate(key);
    if (found instanceof Promise) return this.wait(found, request, context);
    request.actor = found;
    return true;
  }

  private async wait(
    actor: Promise<Actor | undefined>,
    request: ApiRequest,
    context: ExecutionContext,
  ): Promise<boolean> {
    try {
      request.actor = await actor;
      return true;
    } catch (error) {
      // The request ends before the rate limit, whose state is told on every answer. What it was
      // for decides how it failed, where that is known, and not that a key had to be read.
      await this.limits.setHeaders(context);
      throw isRead(request) || request.isCountedLater
        ? error
        : new ApiError('create_failed', { cause: error });
    }
  }
}

/** Whether an unknown route is 401 without a key (docs/contract/endpoints.md#unknown-routes). */
export function isBehindKeys({ method, path }: Pick<ApiRequest, 'method' | 'path'>): boolean {
  return method !== 'OPTIONS' && KEYED_PATHS.test(path);
}

/** What is wrong with a request that has no header of the form that a key has. */
function keyProblemOf({ headers }: ApiRequest): string {
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
