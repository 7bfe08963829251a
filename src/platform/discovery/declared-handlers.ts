import { RequestMethod, type Type } from '@nestjs/common';
import { type DiscoveryService, MetadataScanner } from '@nestjs/core';
import { requestMethodOf, routePathsOf } from './nest-internals.js';

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

/** Returns the route handlers of all controllers. */
export function declaredHandlers(discovery: DiscoveryService): DeclaredHandler[] {
  const controllers = discovery.getControllers();
  return handlersOf(controllers.map(({ metatype }) => metatype as Type<object>));
}

/** Returns the route handlers of controllers. */
export function handlersOf(controllers: readonly Type<object>[]): DeclaredHandler[] {
  const scanner = new MetadataScanner();
  return controllers.flatMap((controller) => {
    const prototype = controller.prototype as Record<string, () => unknown>;
    return scanner.getAllMethodNames(prototype).flatMap((name) => {
      const handler = prototype[name];
      const verb = handler && requestMethodOf(handler);
      if (!handler || verb === undefined) return [];
      const paths = routePathsOf(controller, handler);
      const httpMethod = RequestMethod[verb];
      const route = `${httpMethod} ${paths[0]}`;
      return [{ route, httpMethod, paths, controller, name, handler }];
    });
  });
}
