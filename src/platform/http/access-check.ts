import { Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { ApplicationConfig, ModuleRef } from '@nestjs/core';
import { ERROR_CATALOGUE } from '../errors/error-catalogue.js';
import { HeadersGuard } from './guards/headers.guard.js';
import { RoutePlans } from './route-plans.js';
import { assertKnownAccess } from './routes/access.js';
import type { RoutePlan } from './routes/route-plan.js';
import type { WebhookVerifier } from './routes/webhook-verifier.js';

/**
 * Fails startup if
 * - a global guard runs before those of Latitude,
 * - a route declares no access, or requires a scope that does not exist,
 * - responses of a route that requires a key are cached by URL, or
 * - its description names an error code that does not exist.
 */
@Injectable()
export class AccessCheck implements OnModuleInit {
  constructor(
    private readonly plans: RoutePlans,
    private readonly modules: ModuleRef,
    private readonly config: ApplicationConfig,
  ) {}

  /** @throws Error whose message has one line for each faulty route */
  onModuleInit(): void {
    const ofRoutes = this.plans.all().flatMap((plan) => {
      try {
        this.check(plan);
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

  private check(plan: RoutePlan): void {
    const { route, access, furtherScopes, controller, name, webhookVerifier } = plan;
    if (access === undefined) {
      throw new Error(
        `${route} declares no access. Add @RequireScope(), @AnyKey() or @Public() to its method.`,
      );
    }
    for (const each of [access, ...furtherScopes]) assertKnownAccess(route, each);
    assertKnownErrors(plan);
    if (plan.isRest || access === 'raw') {
      assertNotCachedByUrl(plan.interceptors, `${controller.name}.${name}`);
    }
    if (webhookVerifier) this.assertProvided(route, webhookVerifier);
  }

  private assertProvided(route: string, verifier: Type<WebhookVerifier>): void {
    try {
      this.modules.get(verifier, { strict: false });
    } catch (cause) {
      const message = `${route} is verified by ${verifier.name}, which no module provides. Add it to the providers of a module.`;
      throw new Error(message, { cause });
    }
  }
}

/** @throws Error if the error codes of `@ApiRoute()` are not in the catalogue */
function assertKnownErrors({ route, documentation }: RoutePlan): void {
  const unknown = (documentation?.errors ?? []).filter(
    (code) => !Object.hasOwn(ERROR_CATALOGUE, code),
  );
  if (unknown.length === 0) return;
  const codes = `error code${unknown.length > 1 ? 's' : ''} ${unknown.join(', ')}`;
  throw new Error(
    `${route} names the unknown ${codes} in @ApiRoute(). Use codes of Latitude, or declare them in the errors of an extension.`,
  );
}

/** The class of `@nestjs/cache-manager`, an optional package. */
const CACHE_INTERCEPTOR = 'CacheInterceptor';

/**
 * Checks that every `CacheInterceptor` of a route overrides `trackBy()`. By default it caches responses by URL, so that
 * an organization would receive those of another.
 * @param route the method, as the error names it
 * @throws Error with the remedy
 */
function assertNotCachedByUrl(interceptors: readonly unknown[], route: string): void {
  if (!interceptors.some(cachesByUrl)) return;
  throw new Error(
    `${route} has a ${CACHE_INTERCEPTOR}, which caches responses by URL: organizations would receive the responses of others. Use a subclass whose trackBy() adds the id of the organization (docs/guides/nest-habits.md#caching).`,
  );
}

interface Tracking {
  readonly trackBy?: unknown;
}

/** @param interceptor an instance or a class, as in `@UseInterceptors()` */
function cachesByUrl(interceptor: unknown): boolean {
  const instance = (
    typeof interceptor === 'function' ? interceptor.prototype : interceptor
  ) as Tracking | null;
  let prototype: Tracking | null = instance;
  while (prototype && prototype.constructor.name !== CACHE_INTERCEPTOR) {
    prototype = Object.getPrototypeOf(prototype) as Tracking | null;
  }
  return prototype !== null && instance?.trackBy === prototype.trackBy;
}
