import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { ApiError } from '../../errors/api-error.js';
import { requestOf } from '../request/api-request.js';
import { insufficientScope, wrongKindOfKey } from '../../access/scopes.js';

/** Refuses keys that lack the scope of the route, operator keys at routes of organizations, and every request to a route whose access is unknown. */
@Injectable()
export class ScopesGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { plan, call } = requestOf(context).state;
    if (plan?.access === undefined) {
      throw new ApiError('insufficient_scope', {
        message:
          'This route has none of @RequireScope(), @AnyKey() and @Public(), so every request is refused.',
      });
    }
    const isOperator = call?.actor.key.operatorId !== undefined;
    if (isOperator && plan.acceptsOperators) return true;
    if (isOperator !== (plan.access === 'operator')) throw wrongKindOfKey(isOperator);
    const missing = plan.scopes.find((scope) => !call?.actor.scopes.has(scope));
    if (missing !== undefined) throw insufficientScope(missing);
    return true;
  }
}
