/** The class of `@nestjs/cache-manager`, an optional package. */
const CACHE_INTERCEPTOR = 'CacheInterceptor';

/**
 * Checks that every `CacheInterceptor` of a route overrides `trackBy()`. By default it caches responses by URL, so that
 * an organization would receive those of another.
 * @param route the method, as the error names it
 * @throws Error with the remedy
 */
export function assertNotCachedByUrl(interceptors: readonly unknown[], route: string): void {
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
