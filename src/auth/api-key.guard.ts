import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { ApiRequest } from '../tenancy/actor.js';
import { ACCESS, type Access } from './access.js';
import { Authenticator } from './authenticator.js';

const BEARER = /^bearer +([!-~]+) *$/i;

/** Behind these paths even an unknown route is told only to holders of a key (decisions 2). */
const KEYED_PATHS = /^\/(api|mcp)(\/|$)/;

/** Finds out who asks; the rate limit, which counts strangers too, then refuses them. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly authenticator: Authenticator,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<ApiRequest>();
    const access = this.reflector.get<Access>(ACCESS, context.getHandler());
    request.keyRequired =
      request.method !== 'OPTIONS' &&
      (access !== 'unknown-route' || KEYED_PATHS.test(request.path));
    const key = bearerToken(request);
    if (key !== undefined) request.actor = await this.authenticator.authenticate(key);
    return true;
  }
}

/** The token of the one `Authorization: Bearer` header; Node itself keeps the first of several. */
function bearerToken({ rawHeaders, headers }: ApiRequest): string | undefined {
  const names = rawHeaders.filter((_, index) => index % 2 === 0);
  if (names.filter((name) => name.toLowerCase() === 'authorization').length !== 1) return undefined;
  return BEARER.exec(headers.authorization ?? '')?.[1];
}
