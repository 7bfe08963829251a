import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { Settings } from '../config/settings.js';
import { MemoryRateLimitStorage, type RateLimitStorage } from './limits/rate-limit.storage.js';
import { type RateLimitOptions, RateLimits, WINDOW_MS } from './limits/rate-limits.js';
import { SharedRateLimitStorage } from './limits/shared-rate-limit.storage.js';
import { Authenticator } from './authenticator.js';
import { KeyRevalidation } from './key-revalidation.js';
import { OrganizationSchemas } from './organization-schemas.js';
import { OrganizationCalls } from './organization-calls.service.js';

const PROVIDERS = [
  Authenticator,
  KeyRevalidation,
  OrganizationCalls,
  OrganizationSchemas,
  RateLimits,
];

/** Finds the callers of requests, and counts their requests against the rate limits. */
@Module({
  imports: [
    DiscoveryModule,
    ThrottlerModule.forRootAsync({
      inject: [Settings],
      useFactory: (settings: Settings): RateLimitOptions => ({
        throttlers: [
          limitOf('reads', settings.readsPerMinute, settings.keyMaxReadsPerMinute),
          limitOf('writes', settings.writesPerMinute, settings.keyMaxWritesPerMinute),
        ],
        storage: storageOf(settings),
        trustedAddresses: settings.trustedAddresses,
      }),
    }),
  ],
  providers: PROVIDERS,
  exports: PROVIDERS,
})
export class AccessModule {}

function limitOf(name: 'reads' | 'writes', limit: number, maxOfKey: number) {
  return { name, ttl: WINDOW_MS, limit, maxOfKey };
}

function storageOf({ redisUrl }: Settings): RateLimitStorage {
  return redisUrl ? new SharedRateLimitStorage(redisUrl) : new MemoryRateLimitStorage();
}
