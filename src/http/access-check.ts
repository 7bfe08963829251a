import { Injectable, type OnModuleInit, RequestMethod } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { ACCESS, type Access, assertKnownAccess } from '../auth/access.js';
import { ERROR_CATALOGUE } from '../errors/error-catalogue.js';
import { type DeclaredHandler, declaredHandlers } from './declared-handlers.js';
import { hasVersion, hostOf } from './nest-internals.js';
import { API_ROUTE, type ApiRouteOptions } from './openapi/api-route.decorator.js';
import { InputGuard } from './request/input.guard.js';
import { CATCH_ALL_PATH } from './unknown-routes.controller.js';

/**
 * Fails startup if
 * - a route declares no access, or requires a scope that does not exist,
 * - a route declares a version, which would have no effect,
 * - its input cannot be read,
 * - its description names an error code that does not exist, or
 * - two methods declare the same route.
 */
@Injectable()
export class AccessCheck implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly inputs: InputGuard,
  ) {}

  /** @throws Error whose message has one line for each faulty route */
  onModuleInit(): void {
    const handlers = declaredHandlers(this.discovery);
    const faults = handlers.flatMap((handler) => {
      try {
        this.check(handler);
        return [];
      } catch (error) {
        return [(error as Error).message];
      }
    });
    faults.push(...repeatedRoutes(handlers));
    if (faults.length > 0) throw new Error(faults.join('\n'));
  }

  private check({ route, controller, handler }: DeclaredHandler): void {
    const access = Reflect.getMetadata(ACCESS, handler) as Access | undefined;
    if (access === undefined) {
      throw new Error(
        `${route} declares no access. Add @RequireScope(), @AnyKey() or @Public() to its method.`,
      );
    }
    assertKnownAccess(route, access);
    assertKnownErrors(route, handler);
    if (hasVersion(controller, handler)) {
      throw new Error(
        `${route} declares a version, which would have no effect. Write it into the path, such as @Controller('v2/notes').`,
      );
    }
    try {
      this.inputs.assertReadable(controller, handler);
    } catch (error) {
      throw new Error(`${route} ${(error as Error).message}`, { cause: error });
    }
  }
}

/** @throws Error if the error codes of `@ApiRoute()` are not in the catalogue */
function assertKnownErrors(route: string, handler: object): void {
  const options = Reflect.getMetadata(API_ROUTE, handler) as ApiRouteOptions | undefined;
  const unknown = (options?.errors ?? []).filter((code) => !Object.hasOwn(ERROR_CATALOGUE, code));
  if (unknown.length === 0) return;
  const codes = `error code${unknown.length > 1 ? 's' : ''} ${unknown.join(', ')}`;
  throw new Error(
    `${route} names the unknown ${codes} in @ApiRoute(). Use codes of Latitude, or declare them in the errors of an extension.`,
  );
}

const ALL = RequestMethod[RequestMethod.ALL];

/**
 * Returns a message for each route of two methods, because Nest would call only one of them. `@All()` declares a
 * route of every HTTP method.
 */
function repeatedRoutes(handlers: readonly DeclaredHandler[]): string[] {
  const declared = new Map<string, DeclaredHandler[]>();
  return handlers.flatMap((handler) =>
    handler.paths.flatMap((path) => {
      // Nest reads a `*` at the end in this way.
      const pattern = path.replaceAll(/:\w+/g, ':').replace(/\*$/, CATCH_ALL_PATH);
      const place = `${String(hostOf(handler.controller))} ${pattern}`;
      const others = declared.get(place) ?? [];
      declared.set(place, [...others, handler]);
      const owner = others.find((earlier) => repeats(handler, earlier));
      if (!owner) return [];
      const verb = verbOf(handler) === ALL ? verbOf(owner) : verbOf(handler);
      return [
        `${verb} ${path} is declared by ${nameOf(owner)} and by ${nameOf(handler)}. Change the path of one of them.`,
      ];
    }),
  );
}

/**
 * Whether a method repeats the route of an earlier one. `@All()` after other methods of its controller answers the
 * HTTP methods that these leave.
 */
function repeats(handler: DeclaredHandler, earlier: DeclaredHandler): boolean {
  if (handler.handler === earlier.handler) return false;
  if (verbOf(handler) === verbOf(earlier) || verbOf(earlier) === ALL) return true;
  return verbOf(handler) === ALL && handler.controller !== earlier.controller;
}

function verbOf({ route }: DeclaredHandler): string {
  return route.slice(0, route.indexOf(' '));
}

function nameOf({ controller, name }: DeclaredHandler): string {
  return `${controller.name}.${name}`;
}
