import {
  type CanActivate,
  type ExceptionFilter,
  HttpException,
  type NestInterceptor,
  type Type,
} from '@nestjs/common';
import { ACCESS, type Access, isRestRoute } from '../../auth/access.js';
import { ApiKeyGuard } from '../../auth/api-key.guard.js';
import { ScopesGuard } from '../../auth/scopes.guard.js';
import { ApiError } from '../../errors/api-error.js';
import { RateLimitGuard } from '../../rate-limit/rate-limit.guard.js';
import { WriteInterceptor } from '../../rest/write.interceptor.js';
import { ErrorFilter } from '../error.filter.js';
import { HeadersGuard } from '../request/headers.guard.js';
import { InputGuard } from '../request/input.guard.js';
import { caughtTypesOf } from '../nest-internals.js';
import { assertNotCachedByUrl } from './cached-by-url.js';
import { formBody } from './form-body.interceptor.js';
import { withHttpExceptions } from './with-http-exceptions.js';
import type {
  BoundFilter,
  Controller,
  EnhancerPolicy,
  Handler,
} from './nest-enhancer-internals.js';
import { observedResult } from './observed-result.interceptor.js';

const OWN_GUARDS = [HeadersGuard, ApiKeyGuard, RateLimitGuard, ScopesGuard, InputGuard];

/** The controllers of Latitude. All other controllers belong to a team. */
export interface RouteOwners {
  /** Controllers of Latitude's REST API and of `/mcp`. */
  readonly api: ReadonlySet<Controller>;
  /** Controllers of Latitude's public pages, and of unknown routes. */
  readonly pages: ReadonlySet<Controller>;
  readonly mcp: ReadonlySet<Controller>;
}

/**
 * Decides which guards, interceptors and filters of a team run on which routes
 * (docs/guides/nest-habits.md#guards-interceptors-and-filters).
 */
export class RouteEnhancers implements EnhancerPolicy {
  constructor(private readonly owners: RouteOwners) {}

  globalGuards(guards: CanActivate[], controller: Controller): CanActivate[] {
    if (!this.owners.pages.has(controller)) return guards;
    return guards.filter((guard) => OWN_GUARDS.some((own) => guard instanceof own));
  }

  globalInterceptors(interceptors: NestInterceptor[], controller: Controller): NestInterceptor[] {
    const { pages, mcp } = this.owners;
    return pages.has(controller) || mcp.has(controller) ? [] : interceptors;
  }

  /** A transaction of an `Idempotency-Key` stores what the outermost interceptor returns. */
  interceptors(
    interceptors: NestInterceptor[],
    handler: Handler,
    controller: Controller,
  ): NestInterceptor[] {
    const access = Reflect.getMetadata(ACCESS, handler) as Access | undefined;
    if (isRestRoute(access)) {
      assertNotCachedByUrl(interceptors, `${controller.name}.${handler.name}`);
    }
    const writes = interceptors.filter((each) => each instanceof WriteInterceptor);
    const others = interceptors.filter((each) => !(each instanceof WriteInterceptor));
    if (others.length === 0) return interceptors;
    if (!isRestRoute(access)) return [...others, formBody];
    const ofWrites = writes.map((each) => each.withOtherInterceptors());
    return [...ofWrites, ...others, observedResult, formBody];
  }

  /** Latitude's own errors keep their form on Latitude's own routes. */
  globalFilters(filters: ExceptionFilter[], controller: Controller): ExceptionFilter[] {
    const kept = this.errorsOfLatitude(controller);
    return filters.filter((filter) => {
      if (filter instanceof ErrorFilter) return true;
      const types = caughtTypesOf(filter);
      return !kept.some((error) => catches(types, error));
    });
  }

  /** The last one is the error filter of Latitude. */
  filters(filters: BoundFilter[]): BoundFilter[] {
    return filters.map((filter, index) =>
      index === filters.length - 1 ? filter : withHttpExceptions(filter),
    );
  }

  private errorsOfLatitude(controller: Controller): readonly Type<unknown>[] {
    const { api, pages, mcp } = this.owners;
    if (pages.has(controller) || mcp.has(controller)) return [ApiError, HttpException];
    // Nest handles the errors of the router without a controller.
    return api.has(controller) || controller === Object ? [ApiError] : [];
  }
}

/** Whether a filter of these types catches exceptions of a class. */
function catches(types: readonly Controller[], error: Controller): boolean {
  return types.length === 0 || types.some((type) => error === type || isSubclass(error, type));
}

function isSubclass(one: Controller, other: Controller): boolean {
  return one.prototype instanceof other;
}
