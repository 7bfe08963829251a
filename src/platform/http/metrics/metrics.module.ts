import { Module } from '@nestjs/common';
import { AccessModule } from '../../access/access.module.js';
import { MetricsController } from './metrics.controller.js';
import { Metrics } from './metrics.js';

/** Serves `/metrics`. `serverModule()` imports it only if the setting `METRICS` is on. */
@Module({
  imports: [AccessModule],
  controllers: [MetricsController],
  providers: [Metrics],
})
export class MetricsModule {}
