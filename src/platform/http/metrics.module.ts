import { type DynamicModule, Module, Res } from '@nestjs/common';
import type { Response } from 'express';
import { AccessModule } from '../access/access.module.js';
import type { Settings } from '../config/settings.js';
import { HttpModule } from './http.module.js';
import { Metrics, METRICS_HEADERS } from './metrics.js';
import { MetricsServer } from './metrics-server.js';
import { PublicPage } from './routes/access.js';
import { LatitudeController } from './routes/api-controller.decorator.js';

/**
 * Metrics for Prometheus (docs/contract/running.md#public-pages). The handler sends the response itself, so that
 * interceptors of a team do not change it.
 */
@LatitudeController('metrics')
class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @PublicPage('', METRICS_HEADERS)
  async scrape(@Res() response: Response): Promise<void> {
    response.send(await this.metrics.scrape());
  }
}

/** Measures. `serverModule()` imports it only if the setting `METRICS` is on. */
@Module({ imports: [AccessModule, HttpModule], providers: [Metrics] })
export class MetricsModule {
  /** Serves `/metrics` as well: on the port of the API, unless the setting names another one. */
  static of({ metricsPort }: Pick<Settings, 'metricsPort'>): DynamicModule {
    return {
      module: MetricsModule,
      ...(metricsPort === undefined
        ? { controllers: [MetricsController] }
        : { providers: [MetricsServer] }),
    };
  }
}
