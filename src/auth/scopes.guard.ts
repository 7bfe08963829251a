import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiError } from '../errors/api-error.js';
import { REALM } from '../errors/error.filter.js';
import type { ApiRequest } from '../tenancy/actor.js';
import { ACCESS, type Access } from './access.js';

/** Refuses keys that lack the scope which the route declares (decisions 5). */
@Injectable()
export class ScopesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const access = this.reflector.get<Access | undefined>(ACCESS, context.getHandler());
    if (access === 'any-key' || access === 'public' || access === 'unknown-route') return true;
    const { actor } = context.switchToHttp().getRequest<ApiRequest>();
    if (access !== undefined && actor?.scopes.has(access)) return true;
    throw new ApiError('insufficient_scope', {
      message: `The API key needs the scope ${access ?? 'of this route, which declares none'}.`,
      headers: {
        'WWW-Authenticate': `Bearer realm="${REALM}", error="insufficient_scope", scope="${access ?? ''}"`,
      },
    });
  }
}
