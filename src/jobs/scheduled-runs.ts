import { Injectable, type OnModuleInit } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { BackgroundWork } from './background-work.js';
import { interceptRuns, orchestratorsOf } from './schedule-internals.js';

/**
 * Makes `@Cron`, `@Interval` and `@Timeout` of @nestjs/schedule run in the server only, and makes a stop
 * wait for their runs.
 */
@Injectable()
export class ScheduledRuns implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly background: BackgroundWork,
  ) {}

  onModuleInit(): void {
    const run = this.background.isServer
      ? (work: () => unknown) => this.background.run(work)
      : undefined;
    for (const orchestrator of orchestratorsOf(this.discovery)) interceptRuns(orchestrator, run);
  }
}
