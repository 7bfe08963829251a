import { Controller, Get, Header, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Public } from '../../auth/access.js';
import { HealthService } from './health.service.js';

/** What supervisors and load balancers ask (docs/contract/running.md#health). */
@Controller('health')
export class HealthController {
  constructor(private readonly health: HealthService) {}

  /** The process answers. */
  @Get('live')
  @Public()
  @Header('Cache-Control', 'no-store')
  live() {
    return { status: 'ok' };
  }

  /** Requests may be sent here: reads and writes work, and the instance is not about to stop. */
  @Get('ready')
  @Public()
  @Header('Cache-Control', 'no-store')
  async ready(@Res({ passthrough: true }) response: Response) {
    const obstacle = await this.health.findReadinessProblem();
    if (obstacle === undefined) return { status: 'ok' };
    response.status(503);
    return { status: 'unavailable', ...obstacle };
  }
}
