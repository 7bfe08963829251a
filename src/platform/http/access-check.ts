import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ApplicationConfig, DiscoveryService } from '@nestjs/core';
import { ACCESS, type Access, assertKnownAccess, isRestRoute } from './access.js';
import { ERROR_CATALOGUE } from '../errors/error-catalogue.js';
import { globalInterceptorsOf, teamInterceptorsOf } from './response/declared-interceptors.js';
import { assertNotCachedByUrl } from './cached-by-url.js';
import { type DeclaredHandler, declaredHandlers } from '../discovery/declared-handlers.js';
import { API_ROUTE, type ApiRouteOptions } from './openapi/api-route.decorator.js';
import { HeadersGuard } from './guards/headers.guard.js';
import { InputGuard } from './guards/input.guard.js';

/**
 * Fails startup if
 * - a global guard runs before those of Latitude,
 * - a route declares no access, or requires a scope that does not exist,
 * - responses of a route that requires a key are cached by URL,
 * - its input cannot be read, or
 * - its description names an error code that does not exist.
 */
@Injectable()
export class AccessCheck implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly inputs: InputGuard,
    private readonly config: ApplicationConfig,
  ) {}

  /** @throws Error whose message has one line for each faulty route */
  onModuleInit(): void {
    const ofRoutes = declaredHandlers(this.discovery).flatMap((handler) => {
      try {
        this.check(handler);
        return [];
      } catch (error) {
        return [(error as Error).message];
      }
    });
    const faults = [...this.earlyGuards(), ...ofRoutes];
    if (faults.length > 0) throw new Error(faults.join('\n'));
  }

  /** Guards of `useGlobalGuards()` precede those with `APP_GUARD`. */
  private earlyGuards(): string[] {
    const guards = this.config.getGlobalGuards();
    const first = guards.findIndex((guard) => guard instanceof HeadersGuard);
    return guards
      .slice(0, first)
      .map(
        (guard) =>
          `${guard.constructor.name} is a guard of useGlobalGuards(), which would run before authentication. Provide it with the token APP_GUARD.`,
      );
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
    if (isRestRoute(access) || access === 'raw') {
      const interceptors = [
        ...globalInterceptorsOf(this.config),
        ...teamInterceptorsOf(controller, handler),
      ];
      assertNotCachedByUrl(interceptors, `${controller.name}.${handler.name}`);
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
