import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { Settings } from '../config/settings.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { MemoryRateLimitStorage, type RateLimitStorage } from './rate-limit.storage.js';
import { SharedRateLimitStorage } from './shared-rate-limit.storage.js';
import { UnsharedLimitsWarning } from './unshared-limits-warning.js';
import { type RateLimitOptions, RateLimits, WINDOW_MS } from './rate-limits.js';

/** Maximum number of messages of a key to /mcp in a window, without its tool calls. */
const MESSAGES_PER_WINDOW = 600;

@Module({
  imports: [
    DiscoveryModule,
    ThrottlerModule.forRootAsync({
      inject: [Settings],
      useFactory: (settings: Settings): RateLimitOptions => ({
        throttlers: [
          { name: 'reads', ttl: WINDOW_MS, limit: settings.readsPerMinute },
          { name: 'writes', ttl: WINDOW_MS, limit: settings.writesPerMinute },
          { name: 'messages', ttl: WINDOW_MS, limit: MESSAGES_PER_WINDOW },
        ],
        storage: storageOf(settings),
      }),
    }),
  ],
  providers: [RateLimits, RateLimitGuard, UnsharedLimitsWarning],
  exports: [RateLimits, RateLimitGuard, UnsharedLimitsWarning],
})
export class RateLimitModule {}

function storageOf({ redisUrl }: Settings): RateLimitStorage {
  return redisUrl ? new SharedRateLimitStorage(redisUrl) : new MemoryRateLimitStorage();
}
