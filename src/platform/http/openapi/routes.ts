import type { Type } from '@nestjs/common';
import { APP_GUARD, type DiscoveryService } from '@nestjs/core';
import { handlersOf } from '../../discovery/declared-handlers.js';
import { enhancersOf } from '../../discovery/nest-internals.js';
import type { ApiRouteOptions, RestAccess } from '../routes/route-declarations.js';
import { planRoutes, type RoutePlan } from '../routes/route-plan.js';

/** The plan of a handler of the REST API. The document is made from nothing else. */
export interface RestHandler extends RoutePlan {
  readonly access: RestAccess;
  /** Whether a guard of a team runs, which can answer any error. */
  readonly isGuarded: boolean;
}

/** A route as its operation describes it. */
export interface Route extends RestHandler {
  readonly method: 'get' | 'put' | 'post' | 'delete' | 'patch';
  /** The path, with its parameters in braces, such as `/api/v1/leads/{id}`. */
  readonly path: string;
  readonly hasBody: boolean;
  /** Whether the response is one record, with its `ETag`. */
  readonly isRecord: boolean;
}

/**
 * Returns the handlers of the REST API in controllers.
 * @param isGuardedGlobally whether a guard of a team runs on all routes
 */
export function restHandlersOf(
  controllers: readonly Type<object>[],
  isGuardedGlobally = false,
): RestHandler[] {
  return planRoutes(handlersOf(controllers)).flatMap((plan) => {
    if (!plan.isRest) return [];
    const guards = enhancersOf('guards', plan.controller, plan.handler);
    const isGuarded = isGuardedGlobally || guards.length > 0;
    return { ...plan, access: plan.access as RestHandler['access'], isGuarded };
  });
}

/** Whether a module of a team has a guard with `APP_GUARD`. Those of Latitude are in `HttpModule`. */
export function hasGlobalGuard(discovery: DiscoveryService): boolean {
  return discovery
    .getProviders()
    .some(({ token, host }) => String(token).startsWith(APP_GUARD) && host?.name !== 'HttpModule');
}

/** Returns the DTO of the declared response, which is one record or a page of records. */
export function responseDtoOf(options: ApiRouteOptions | undefined): Type<object> | undefined {
  return options && ([options.response].flat() as [Type<object> | undefined])[0];
}
