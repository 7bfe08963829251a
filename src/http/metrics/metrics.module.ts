import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { RateLimitModule } from '../../rate-limit/rate-limit.module.js';
import { MetricsController } from './metrics.controller.js';
import { Metrics } from './metrics.js';

/** `/metrics`, for applications whose settings ask for it. */
@Module({
  imports: [AuthModule, RateLimitModule],
  controllers: [MetricsController],
  providers: [Metrics],
})
export class MetricsModule {}
