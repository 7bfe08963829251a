import { Res } from '@nestjs/common';
import type { Response } from 'express';
import { PublicPage } from '../routes/access.js';
import { HealthService } from './health.service.js';
import { LatitudeController } from '../routes/api-controller.decorator.js';

const NOT_CACHED = { 'Cache-Control': 'no-store' };

/**
 * Health checks for supervisors and load balancers (docs/contract/running.md#health). The handlers send the responses
 * themselves, and the filter is bound here, so that interceptors and filters of a team do not change them.
 */
@LatitudeController('health')
export class HealthController {
  constructor(private readonly health: HealthService) {}

  /** Liveness: the process responds. */
  @PublicPage('live', NOT_CACHED)
  live(@Res() response: Response): void {
    response.json({ status: 'ok' });
  }

  /** Readiness: reads and writes work, and the instance is not shutting down. */
  @PublicPage('ready', NOT_CACHED)
  async ready(@Res() response: Response): Promise<void> {
    const report = await this.health.checkReadiness();
    response.status(report.status === 'unavailable' ? 503 : 200).json(report);
  }
}
