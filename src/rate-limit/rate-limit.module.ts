import { Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { ThrottlerModule } from '@nestjs/throttler';
import { Settings } from '../config/settings.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { MemoryRateLimitStorage } from './rate-limit.storage.js';
import { RedisRateLimitStorage } from './redis-rate-limit.storage.js';
import { SeparateLimits } from './separate-limits.js';
import { type RateLimitOptions, RateLimits, WINDOW_MS } from './rate-limits.js';

/** Maximum number of messages of a key to /mcp in a window, besides its tool calls. */
const MESSAGES_PER_WINDOW = 600;

@Module({
  imports: [
    DiscoveryModule,
    ThrottlerModule.forRootAsync({
      inject: [Settings],
      useFactory: ({ readsPerMinute, writesPerMinute, redisUrl }: Settings): RateLimitOptions => ({
        throttlers: [
          { name: 'reads', ttl: WINDOW_MS, limit: readsPerMinute },
          { name: 'writes', ttl: WINDOW_MS, limit: writesPerMinute },
          { name: 'messages', ttl: WINDOW_MS, limit: MESSAGES_PER_WINDOW },
        ],
        storage: redisUrl ? new RedisRateLimitStorage(redisUrl) : new MemoryRateLimitStorage(),
      }),
    }),
  ],
  providers: [RateLimits, RateLimitGuard, SeparateLimits],
  exports: [RateLimits, RateLimitGuard, SeparateLimits],
})
export class RateLimitModule {}
