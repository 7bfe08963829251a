import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { Settings } from '../config/settings.js';
import { MemoryRateLimitStorage, type RateLimitStorage } from './limits/rate-limit.storage.js';
import { RateLimits } from './limits/rate-limits.js';
import { SharedRateLimitStorage } from './limits/shared-rate-limit.storage.js';
import { UnsharedLimitsWarning } from './limits/unshared-limits-warning.js';
import { AccessRepository } from './access.repository.js';
import { Authenticator } from './authenticator.js';
import { KeyRevalidation } from './key-revalidation.js';
import { OrganizationCalls } from './organization-calls.service.js';
import { TokenCalls } from './token-calls.service.js';

/** Finds the callers of requests, and counts their requests against the rate limits. */
@Module({
  imports: [
    DiscoveryModule,
    ThrottlerModule.forRootAsync({
      inject: [Settings],
      // RateLimitGuard has throttlers of its own.
      useFactory: (settings: Settings) => ({ throttlers: [], storage: storageOf(settings) }),
    }),
  ],
  providers: [
    AccessRepository,
    Authenticator,
    KeyRevalidation,
    OrganizationCalls,
    TokenCalls,
    RateLimits,
    UnsharedLimitsWarning,
  ],
  exports: [
    AccessRepository,
    Authenticator,
    KeyRevalidation,
    OrganizationCalls,
    RateLimits,
    TokenCalls,
    UnsharedLimitsWarning,
  ],
})
export class AccessModule {}

function storageOf({ redisUrl }: Settings): RateLimitStorage {
  return redisUrl ? new SharedRateLimitStorage(redisUrl) : new MemoryRateLimitStorage();
}
