import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type MaybePromise, mapMaybePromise } from '../../maybe-promise.js';
import { requestOf, responseOf } from '../request/api-request.js';
import { RequestLimits } from './request-limits.js';

/** Counts the request against the shared limit, or as the code of a team says. Public routes are not counted. */
@Injectable()
export class RateLimitGuard implements CanActivate {
  constructor(private readonly limits: RequestLimits) {}

  /** @throws ApiError `rate_limit_exceeded` */
  canActivate(context: ExecutionContext): MaybePromise<boolean> {
    const request = requestOf(context);
    const { plan } = request.state;
    if (plan?.team?.count) return mapMaybePromise(plan.team.count(context), () => true);
    if (plan?.countedBy === 'nothing') return true;
    return mapMaybePromise(this.limits.count(request, responseOf(context)), () => true);
  }
}
