import { Injectable, type OnModuleInit } from '@nestjs/common';
import { APP_INTERCEPTOR, DiscoveryService, ModulesContainer } from '@nestjs/core';
import { ACCESS, type Access, assertKnownAccess, isRestRoute } from '../auth/access.js';
import { ERROR_CATALOGUE } from '../errors/error-catalogue.js';
import { teamInterceptorsOf } from '../rest/declared-interceptors.js';
import { assertNotCachedByUrl } from './cached-by-url.js';
import { type DeclaredHandler, declaredHandlers } from './declared-handlers.js';
import { globalEnhancers } from './global-enhancers.js';
import { API_ROUTE, type ApiRouteOptions } from './openapi/api-route.decorator.js';
import { InputGuard } from './request/input.guard.js';

/**
 * Fails startup if
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
    private readonly modules: ModulesContainer,
  ) {}

  /** @throws Error whose message has one line for each faulty route */
  onModuleInit(): void {
    const faults = declaredHandlers(this.discovery).flatMap((handler) => {
      try {
        this.check(handler);
        return [];
      } catch (error) {
        return [(error as Error).message];
      }
    });
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
    if (isRestRoute(access) || access === 'raw') {
      const interceptors = [
        ...globalEnhancers(this.modules, APP_INTERCEPTOR),
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
