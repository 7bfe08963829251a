import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import {
  Injectable,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { logger } from '../config/logger.js';
import { Settings } from '../config/settings.js';
import { listen } from './lifecycle/listen.js';
import { Metrics, METRICS_HEADERS } from './metrics.js';

const PATH = '/metrics';
const METHODS = new Set(['GET', 'HEAD']);

/** Serves `/metrics`, and nothing else, on a port of its own (docs/contract/running.md#public-pages). */
@Injectable()
export class MetricsServer implements OnApplicationBootstrap, OnApplicationShutdown {
  private readonly server = http.createServer({ requestTimeout: 10_000 }, (request, response) => {
    void this.answer(request, response);
  });

  constructor(
    private readonly settings: Settings,
    private readonly metrics: Metrics,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const { host, metricsPort = 0 } = this.settings;
    const url = await listen(this.server, host, metricsPort, 'METRICS_PORT');
    logger.info(`Metrics for Prometheus: ${url}${PATH}`);
  }

  /** Serves metrics until the last requests have ended. */
  onApplicationShutdown(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private async answer({ url = '', method = '' }: IncomingMessage, response: ServerResponse) {
    try {
      if (url.split('?', 1)[0] !== PATH) response.writeHead(404).end();
      else if (!METHODS.has(method)) response.writeHead(405, { Allow: 'GET, HEAD' }).end();
      else response.writeHead(200, METRICS_HEADERS).end(await this.metrics.scrape());
    } catch (error) {
      logger.error({ err: error }, 'the metrics could not be collected');
      response.writeHead(500).end();
    }
  }
}
