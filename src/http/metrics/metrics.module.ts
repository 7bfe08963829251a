import { Module } from '@nestjs/common';
import { AuthModule } from '../../auth/auth.module.js';
import { RateLimitModule } from '../../rate-limit/rate-limit.module.js';
import { MetricsController } from './metrics.controller.js';
import { Metrics } from './metrics.js';
import { ReplicaMetrics } from './replica-metrics.js';

/** Serves `/metrics`. `serverModule()` imports it only if the setting `METRICS` is on. */
@Module({
  imports: [AuthModule, RateLimitModule],
  controllers: [MetricsController],
  providers: [Metrics, ReplicaMetrics],
})
export class MetricsModule {}
