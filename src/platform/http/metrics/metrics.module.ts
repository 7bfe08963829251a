import { Module, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Registry } from 'prom-client';
import { AccessModule } from '../../access/access.module.js';
import { PublicPage } from '../routes/access.js';
import { Metrics } from './metrics.js';
import { LatitudeController } from '../routes/api-controller.decorator.js';

/**
 * Metrics for Prometheus (docs/contract/running.md#public-pages). The handler sends the response itself, so that
 * interceptors of a team do not change it.
 */
@LatitudeController('metrics')
class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @PublicPage('', { 'Cache-Control': 'no-store', 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE })
  async scrape(@Res() response: Response): Promise<void> {
    response.send(await this.metrics.scrape());
  }
}

/** Serves `/metrics`. `serverModule()` imports it only if the setting `METRICS` is on. */
@Module({
  imports: [AccessModule],
  controllers: [MetricsController],
  providers: [Metrics],
})
export class MetricsModule {}
