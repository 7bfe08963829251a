import { Controller, Get, Header } from '@nestjs/common';
import { Registry } from 'prom-client';
import { Public } from '../../auth/access.js';
import { Metrics } from './metrics.js';

/** Metrics for Prometheus (docs/contract/running.md#public-pages). */
@Controller('metrics')
export class MetricsController {
  constructor(private readonly metrics: Metrics) {}

  @Get()
  @Public()
  @Header('Cache-Control', 'no-store')
  @Header('Content-Type', Registry.PROMETHEUS_CONTENT_TYPE)
  scrape() {
    return this.metrics.scrape();
  }
}
