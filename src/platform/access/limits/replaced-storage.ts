import type { DiscoveryService } from '@nestjs/core';
import { getStorageToken } from '@nestjs/throttler';
import type { RateLimitStorage } from './rate-limit.storage.js';

/**
 * Finds the storage that a team provides with the token `ThrottlerStorage`. One without fixed windows that can be read
 * without counting is that of a `ThrottlerModule` of the team.
 * @param own the storage to use if there is no other one
 */
export function replacedStorage(
  discovery: DiscoveryService,
  own: RateLimitStorage,
): RateLimitStorage {
  const providers = discovery.getProviders().filter(({ token }) => token === getStorageToken());
  const storages = providers.map(({ instance }) => instance as object);
  return storages.filter(isRateLimitStorage).find((storage) => storage !== own) ?? own;
}

function isRateLimitStorage(storage: object): storage is RateLimitStorage {
  const { count, peek } = storage as Partial<RateLimitStorage>;
  return typeof count === 'function' && typeof peek === 'function';
}
