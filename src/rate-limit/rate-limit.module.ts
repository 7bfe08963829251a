import { Module } from '@nestjs/common';
import { ThrottlerModule } from '@nestjs/throttler';
import { Settings } from '../config/settings.js';
import { RateLimitGuard } from './rate-limit.guard.js';
import { RateLimits } from './rate-limits.js';
import { throttlerOptions } from './throttlers.js';

@Module({
  imports: [ThrottlerModule.forRootAsync({ inject: [Settings], useFactory: throttlerOptions })],
  providers: [RateLimits, RateLimitGuard],
  exports: [RateLimits, RateLimitGuard],
})
export class RateLimitModule {}
