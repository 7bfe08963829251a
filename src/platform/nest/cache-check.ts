import type { RoutePlan } from '../http/routes/route-plan.js';

/**
 * @param interceptors those of a team that run on the route
 * @returns what is wrong if they cache its responses by URL and it requires a key
 */
export function faultOfCache(
  { controller, name, isRest, access }: RoutePlan,
  interceptors: readonly unknown[],
): string | undefined {
  if (!(isRest || access === 'raw') || !interceptors.some(cachesByUrl)) return undefined;
  return `${controller.name}.${name} has a ${CACHE_INTERCEPTOR}, which caches responses by URL: organizations would receive the responses of others. Use a subclass whose trackBy() adds the id of the organization (docs/guides/nest-habits.md#caching).`;
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
