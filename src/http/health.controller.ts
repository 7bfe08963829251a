import { Controller, Get, Header, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Public } from '../auth/access.js';
import { HealthService } from './health.service.js';

/** What supervisors and load balancers ask (decisions 2 and 7). */
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

  /** Requests may be sent here: the database answers, and the instance stays. */
  @Get('ready')
  @Public()
  @Header('Cache-Control', 'no-store')
  async ready(@Res({ passthrough: true }) response: Response) {
    const reason = await this.health.obstacle();
    if (reason === undefined) return { status: 'ok' };
    response.status(503);
    return { status: 'unavailable', reason };
  }
}
