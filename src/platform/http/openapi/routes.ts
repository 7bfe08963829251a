import type { DeclaredHandler } from '../../discovery/declared-handlers.js';
import type { RestAccess } from '../routes/route-declarations.js';
import { planRoutes, type RoutePlan } from '../routes/route-plan.js';
import { freeNames } from './model.js';

/** OpenAPI has more methods, which no route has. */
const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

/** The plan of a handler of the REST API. The document is made from nothing else. */
export interface RestPlan extends RoutePlan {
  readonly access: RestAccess;
  /** Whether a guard of a team runs, which can answer any error. */
  readonly isGuarded?: boolean;
}

/** A handler at one of its paths with one of its methods: an operation of the document. */
export interface Route extends RestPlan {
  readonly method: (typeof METHODS)[number];
  /** The path, with its parameters in braces, such as `/api/v1/leads/{id}`. */
  readonly path: string;
  /** A name such as `leadsList`, or `leadsList2` for the second route of this name. */
  readonly operationId: string;
}

/** Selects the handlers of the REST API. */
export function restPlansOf(handlers: readonly DeclaredHandler[]): RestPlan[] {
  return planRoutes(handlers).filter((plan): plan is RestPlan => plan.isRest);
}

/** Returns the routes of handlers. Those with the same path follow one another. */
export function routesOf(plans: readonly RestPlan[]): Route[] {
  const free = freeNames([]);
  const routes = plans.flatMap((plan) => {
    const { controller, name, httpMethod, paths } = plan;
    const noun = controller.name.replace(/Controller$/, '');
    const operation = `${noun.charAt(0).toLowerCase()}${noun.slice(1)}${name.charAt(0).toUpperCase()}${name.slice(1)}`;
    const isAll = httpMethod === 'ALL';
    const methods = METHODS.filter((method) => isAll || method.toUpperCase() === httpMethod);
    return paths.flatMap((pattern) => {
      const id = free(operation);
      const path = pattern.replaceAll(/[{}]/g, '').replaceAll(/[:*](\w+)/g, '{$1}');
      return methods.map((method): Route => {
        return { ...plan, method, path, operationId: isAll ? `${id}_${method}` : id };
      });
    });
  });
  const order = routes.map(({ path }) => path);
  return routes.toSorted((a, b) => order.indexOf(a.path) - order.indexOf(b.path));
}
