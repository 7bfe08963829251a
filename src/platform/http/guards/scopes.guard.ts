import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { ApiError } from '../../errors/api-error.js';
import type { ApiRequest } from '../request/api-request.js';
import { ACCESS, type Access, needsNoScope } from '../access.js';
import { insufficientScope, isScope } from '../../access/scopes.js';

/** Refuses keys that lack the scope of the route, and every request to a route whose access is unknown. */
@Injectable()
export class ScopesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    const access = this.reflector.get<Access | undefined>(ACCESS, context.getHandler());
    if (access === undefined) {
      throw new ApiError('insufficient_scope', {
        message:
          'This route has none of @RequireScope(), @AnyKey() and @Public(), so every request is refused.',
      });
    }
    if (needsNoScope(access)) return true;
    const { call } = context.switchToHttp().getRequest<ApiRequest>().state;
    if (isScope(access) && call?.actor.scopes.has(access)) return true;
    throw insufficientScope(access);
  }
}
