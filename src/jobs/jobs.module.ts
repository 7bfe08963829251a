import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { BackgroundWork } from './background-work.js';
import { ScheduledRuns } from './scheduled-runs.js';

/** Runs the scheduled work of all modules. */
@Global()
@Module({ imports: [DiscoveryModule], providers: [BackgroundWork, ScheduledRuns] })
export class JobsModule {}
