import type { Type } from '@nestjs/common';
import type { DeclaredHandler } from '../../discovery/declared-handlers.js';
import { enhancersOf } from '../../discovery/nest-internals.js';
import type { ApiRouteOptions, RestAccess } from '../routes/route-declarations.js';
import { planRoutes, type RoutePlan } from '../routes/route-plan.js';
import { freeNames } from './model.js';

/** OpenAPI has more methods, which no route has. */
const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

/** The plan of a handler of the REST API. The document is made from nothing else. */
export interface RestHandler extends RoutePlan {
  readonly access: RestAccess;
  /** Whether a guard of a team runs, which can answer any error. */
  readonly isGuarded: boolean;
}

/** A handler at one of its paths with one of its methods. */
export interface RoutePath extends RestHandler {
  readonly method: (typeof METHODS)[number];
  /** The path, with its parameters in braces, such as `/api/v1/leads/{id}`. */
  readonly path: string;
  readonly operationId: string;
}

/** A route as its operation describes it. */
export interface Route extends RoutePath {
  readonly hasBody: boolean;
  /** Whether the response is one record, with its `ETag`. */
  readonly isRecord: boolean;
}

/**
 * Selects the handlers of the REST API.
 * @param isGuardedGlobally whether a guard of a team runs on all routes
 */
export function restHandlersOf(
  handlers: readonly DeclaredHandler[],
  isGuardedGlobally = false,
): RestHandler[] {
  return planRoutes(handlers).flatMap((plan) => {
    if (!plan.isRest) return [];
    const guards = enhancersOf('guards', plan.controller, plan.handler);
    const isGuarded = isGuardedGlobally || guards.length > 0;
    return { ...plan, access: plan.access as RestHandler['access'], isGuarded };
  });
}

/** Returns the routes of handlers. Their operations have names such as `leadsList`, and `leadsList2` for the second of this name. */
export function routePathsOf(handlers: readonly RestHandler[]): RoutePath[] {
  const free = freeNames([]);
  const routes = handlers.flatMap((handler) => {
    const { controller, name, httpMethod, paths } = handler;
    const noun = controller.name.replace(/Controller$/, '');
    const operation = `${noun.charAt(0).toLowerCase()}${noun.slice(1)}${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    const isAll = httpMethod === 'ALL';
    const methods = METHODS.filter((method) => isAll || method.toUpperCase() === httpMethod);
    return paths.flatMap((path) => {
      const id = free(operation);
      return methods.map((method) => ({
        ...handler,
        method,
        path: path.replaceAll(/[{}]/g, '').replaceAll(/[:*](\w+)/g, '{$1}'),
        operationId: isAll ? `${id}_${method}` : id,
      }));
    });
  });
  const paths = routes.map(({ path }) => path);
  return routes.toSorted((a, b) => paths.indexOf(a.path) - paths.indexOf(b.path));
}

/** Returns the DTO of the declared response, which is one record or a page of records. */
export function responseDtoOf(options: ApiRouteOptions | undefined): Type<object> | undefined {
  return options && ([options.response].flat() as [Type<object> | undefined])[0];
}

/** Returns the DTOs of the declared response, of that to a dry run, and of `meta`. */
export function resultsOf({ documentation }: RoutePlan): Type<object>[] {
  const dtos = [responseDtoOf(documentation), documentation?.dryRun, documentation?.meta];
  return dtos.filter((dto) => dto !== undefined);
}
