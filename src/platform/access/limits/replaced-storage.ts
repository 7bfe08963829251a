import { APP_GUARD, type DiscoveryService } from '@nestjs/core';
import { getStorageToken, ThrottlerGuard } from '@nestjs/throttler';
import type { RateLimitStorage } from './rate-limit.storage.js';

/**
 * Finds the storage that a team provides with the token `ThrottlerStorage`.
 * @param own the storage to use if there is no other one
 * @throws Error if a provider cannot be used
 */
export function replacedStorage(
  discovery: DiscoveryService,
  own: RateLimitStorage,
): RateLimitStorage {
  const providers = discovery.getProviders();
  const storages = providers.filter(({ token }) => token === getStorageToken());
  const [other, another] = new Set(
    storages.map(({ instance }) => instance as object).filter((storage) => storage !== own),
  );
  if (another) throw new Error('Two modules provide a ThrottlerStorage. There can be only one.');
  if (other && !isRateLimitStorage(other)) {
    throw new Error(
      `${other.constructor.name} cannot store the rate limits, because it has no count() and peek(): Latitude needs fixed windows that it can read without counting. Provide a RateLimitStorage, or remove the ThrottlerModule that brings it.`,
    );
  }
  const guard = providers.find(
    ({ token, instance }) =>
      String(token).startsWith(APP_GUARD) && instance instanceof ThrottlerGuard,
  );
  if (guard) {
    throw new Error(
      'ThrottlerGuard is an APP_GUARD, but Latitude counts requests already. Remove it: @Throttle and @SkipThrottle work without it.',
    );
  }
  return other ?? own;
}

function isRateLimitStorage(storage: object): storage is RateLimitStorage {
  const { count, peek } = storage as Partial<RateLimitStorage>;
  return typeof count === 'function' && typeof peek === 'function';
}
