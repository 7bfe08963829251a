import { RequestMethod, type Type } from '@nestjs/common';
import { MetadataScanner, type ModulesContainer } from '@nestjs/core';
import { modulePathOf, requestMethodOf, routePathsOf } from './nest-internals.js';

/** A method of a controller that answers requests. */
export interface DeclaredHandler {
  /** Such as `GET /api/v1/leads`. */
  readonly route: string;
  /** Such as `GET`, or `ALL`. */
  readonly httpMethod: string;
  readonly paths: readonly string[];
  readonly controller: Type<object>;
  readonly name: string;
  readonly handler: () => unknown;
}

/** Returns the route handlers of all modules. A controller of two modules has the paths of both. */
export function declaredHandlers(modules: ModulesContainer): DeclaredHandler[] {
  const prefixes = new Map<Type<object>, string[]>();
  for (const module of modules.values()) {
    const prefix = modulePathOf(module.metatype, modules);
    for (const { metatype } of module.controllers.values()) {
      const controller = metatype as Type<object>;
      prefixes.set(controller, [...(prefixes.get(controller) ?? []), prefix]);
    }
  }
  return [...prefixes].flatMap(([controller, ofModules]) => handlersOf(controller, ofModules));
}

/**
 * Returns the route handlers of a controller.
 * @param prefixes the paths of its modules
 */
export function handlersOf(
  controller: Type<object>,
  prefixes: readonly string[] = [''],
): DeclaredHandler[] {
  const prototype = controller.prototype as Record<string, () => unknown>;
  return new MetadataScanner().getAllMethodNames(prototype).flatMap((name) => {
    const handler = prototype[name];
    const verb = handler && requestMethodOf(handler);
    if (!handler || verb === undefined) return [];
    const paths = routePathsOf(prefixes, controller, handler);
    const httpMethod = RequestMethod[verb];
    const route = `${httpMethod} ${paths[0]}`;
    return [{ route, httpMethod, paths, controller, name, handler }];
  });
}
