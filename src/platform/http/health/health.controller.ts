import { Controller, Get, Header, Res, UseFilters } from '@nestjs/common';
import type { Response } from 'express';
import { Public } from '../routes/access.js';
import { HealthService } from './health.service.js';
import { ErrorFilter } from '../error.filter.js';

/**
 * Health checks for supervisors and load balancers (docs/contract/running.md#health). The handlers send the responses
 * themselves, and the filter is bound here, so that interceptors and filters of a team do not change them.
 */
@Controller('health')
@UseFilters(ErrorFilter)
export class HealthController {
  constructor(private readonly health: HealthService) {}

  /** Liveness: the process responds. */
  @Get('live')
  @Public()
  @Header('Cache-Control', 'no-store')
  live(@Res() response: Response): void {
    response.json({ status: 'ok' });
  }

  /** Readiness: reads and writes work, and the instance is not shutting down. */
  @Get('ready')
  @Public()
  @Header('Cache-Control', 'no-store')
  async ready(@Res() response: Response): Promise<void> {
    const report = await this.health.checkReadiness();
    response.status(report.status === 'unavailable' ? 503 : 200).json(report);
  }
}
