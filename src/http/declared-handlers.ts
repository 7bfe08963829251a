import { RequestMethod, type Type } from '@nestjs/common';
import type { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { requestMethodOf } from './nest-internals.js';
import { pathsOf } from './openapi/routes.js';

/** A method of a controller that answers requests. */
export interface DeclaredHandler {
  /** Such as `GET /api/v1/leads`. */
  readonly route: string;
  readonly controller: Type<object>;
  readonly handler: () => unknown;
}

/** Returns the route handlers of all controllers. */
export function declaredHandlers(
  discovery: DiscoveryService,
  scanner: MetadataScanner,
): DeclaredHandler[] {
  return discovery.getControllers().flatMap(({ metatype }) => {
    const controller = metatype as Type<object>;
    const prototype = controller.prototype as Record<string, () => unknown>;
    return scanner.getAllMethodNames(prototype).flatMap((name) => {
      const handler = prototype[name];
      const verb = handler && requestMethodOf(handler);
      if (!handler || verb === undefined) return [];
      const [path = ''] = pathsOf(controller, handler);
      return [{ route: `${RequestMethod[verb]} ${path}`, controller, handler }];
    });
  });
}
