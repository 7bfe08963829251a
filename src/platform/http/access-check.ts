import { Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { ApplicationConfig, ModuleRef } from '@nestjs/core';
import { ERROR_CATALOGUE } from '../errors/error-catalogue.js';
import { ApiKeyGuard } from './guards/api-key.guard.js';
import { RoutePlans } from './route-plans.js';
import { isKnownAccess, unknownScope } from './routes/access.js';
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
    const ofRoutes = this.plans.all().map((plan) => this.faultOf(plan));
    const faults = [...this.earlyGuards(), ...ofRoutes].filter((fault) => fault !== undefined);
    if (faults.length > 0) throw new Error(faults.join('\n'));
  }

  /** Guards of `useGlobalGuards()` precede those with `APP_GUARD`. */
  private earlyGuards(): string[] {
    const guards = this.config.getGlobalGuards();
    const first = guards.findIndex((guard) => guard instanceof ApiKeyGuard);
    return guards
      .slice(0, first)
      .map(
        (guard) =>
          `${guard.constructor.name} is a guard of useGlobalGuards(), which would run before authentication. Provide it with the token APP_GUARD.`,
      );
  }

  private faultOf(plan: RoutePlan): string | undefined {
    const { route, access, furtherScopes, controller, name, webhookVerifier, interceptors } = plan;
    if (access === undefined) {
      return `${route} declares no access. Add @RequireScope(), @AnyKey() or @Public() to its method.`;
    }
    const unknown = [access, ...furtherScopes].find((each) => !isKnownAccess(each));
    if (unknown !== undefined) return unknownScope(route, unknown);
    const { errors = [] } = plan.documentation ?? {};
    const codes = errors.filter((code) => !Object.hasOwn(ERROR_CATALOGUE, code));
    if (codes.length > 0) {
      const named = `error code${codes.length > 1 ? 's' : ''} ${codes.join(', ')}`;
      return `${route} names the unknown ${named} in @ApiRoute(). Use codes of Latitude, or declare them in the errors of an extension.`;
    }
    if ((plan.isRest || access === 'raw') && interceptors.some(cachesByUrl)) {
      return `${controller.name}.${name} has a ${CACHE_INTERCEPTOR}, which caches responses by URL: organizations would receive the responses of others. Use a subclass whose trackBy() adds the id of the organization (docs/guides/nest-habits.md#caching).`;
    }
    if (!webhookVerifier || this.isProvided(webhookVerifier)) return undefined;
    return `${route} is verified by ${webhookVerifier.name}, which no module provides. Add it to the providers of a module.`;
  }

  private isProvided(verifier: Type<WebhookVerifier>): boolean {
    try {
      this.modules.get(verifier, { strict: false });
      return true;
    } catch {
      return false;
    }
  }
}

/** The class of `@nestjs/cache-manager`, an optional package. */
const CACHE_INTERCEPTOR = 'CacheInterceptor';

interface Tracking {
  readonly trackBy?: unknown;
}

/**
 * Whether this is a `CacheInterceptor` that does not override `trackBy()`. By default it caches responses by URL, so that an
 * organization would receive those of another.
 * @param interceptor an instance or a class, as in `@UseInterceptors()`
 */
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
