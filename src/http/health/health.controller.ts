import { Controller, Get, Header, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Public } from '../../auth/access.js';
import { HealthService } from './health.service.js';
import { ShutdownDelay } from './shutdown-delay.js';

/** Health checks for supervisors and load balancers (docs/contract/running.md#health). */
@Controller('health')
export class HealthController {
  constructor(
    private readonly health: HealthService,
    private readonly shutdownDelay: ShutdownDelay,
  ) {}

  /** Liveness: the process responds. */
  @Get('live')
  @Public()
  @Header('Cache-Control', 'no-store')
  live() {
    return { status: 'ok' };
  }

  /** Readiness: reads and writes work, and the instance is not shutting down. */
  @Get('ready')
  @Public()
  @Header('Cache-Control', 'no-store')
  async ready(@Res({ passthrough: true }) response: Response) {
    this.shutdownDelay.recordCheck();
    const report = await this.health.checkReadiness();
    if (report.status === 'unavailable') response.status(503);
    return report;
  }
}
