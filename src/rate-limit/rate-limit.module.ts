import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { Settings } from '../config/settings.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { ParentProcess } from '../workers/parent-process.js';
import { MemoryRateLimitStorage, type RateLimitStorage } from './rate-limit.storage.js';
import { ParentWindows } from './parent-windows.js';
import { RedisConnection } from './redis-connection.js';
import { SharedRateLimitStorage } from './shared-rate-limit.storage.js';
import { UnsharedLimitsWarning } from './unshared-limits-warning.js';
import { type RateLimitOptions, RateLimits, WINDOW_MS } from './rate-limits.js';

/** Maximum number of messages of a key to /mcp in a window, without its tool calls. */
const MESSAGES_PER_WINDOW = 600;

@Module({
  imports: [
    DiscoveryModule,
    ThrottlerModule.forRootAsync({
      inject: [Settings, { token: ParentProcess, optional: true }],
      useFactory: (settings: Settings, parent?: ParentProcess): RateLimitOptions => ({
        throttlers: [
          { name: 'reads', ttl: WINDOW_MS, limit: settings.readsPerMinute },
          { name: 'writes', ttl: WINDOW_MS, limit: settings.writesPerMinute },
          { name: 'messages', ttl: WINDOW_MS, limit: MESSAGES_PER_WINDOW },
        ],
        storage: storageOf(settings, parent),
      }),
    }),
  ],
  providers: [RateLimits, RateLimitGuard, UnsharedLimitsWarning],
  exports: [RateLimits, RateLimitGuard, UnsharedLimitsWarning],
})
export class RateLimitModule {}

/** @param parent the process that counts for all workers, if this is one */
function storageOf({ redisUrl }: Settings, parent?: ParentProcess): RateLimitStorage {
  if (redisUrl) {
    return new SharedRateLimitStorage((onLost) => new RedisConnection(redisUrl, onLost));
  }
  if (parent) return new SharedRateLimitStorage((onLost) => new ParentWindows(parent, onLost));
  return new MemoryRateLimitStorage();
}
