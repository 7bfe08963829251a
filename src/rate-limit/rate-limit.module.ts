import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { Settings } from '../config/settings.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { MemoryRateLimitStorage } from './rate-limit.storage.js';
import { RateLimits, WINDOW_MS } from './rate-limits.js';

@Module({
  imports: [
    ThrottlerModule.forRootAsync({
      inject: [Settings],
      useFactory: ({ readsPerMinute, writesPerMinute }: Settings) => ({
        throttlers: [
          { name: 'reads', ttl: WINDOW_MS, limit: readsPerMinute },
          { name: 'writes', ttl: WINDOW_MS, limit: writesPerMinute },
        ],
        storage: new MemoryRateLimitStorage(),
      }),
    }),
  ],
  providers: [RateLimits, RateLimitGuard],
  exports: [RateLimits, RateLimitGuard],
})
export class RateLimitModule {}
