import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { AccessModule } from '../access/access.module.js';
import { BackgroundWork } from './background-work.js';
import { IdempotencyCleanup } from './idempotency-cleanup.js';
import { JobOutcomes } from './job-outcomes.js';
import { JobRegistry } from './job-registry.js';
import { JobScheduler } from './job-scheduler.js';
import { JobWorker } from './job-worker.js';
import { JobsService } from './jobs.service.js';

/** Sends and runs jobs, for all modules. */
@Global()
@Module({
  imports: [AccessModule, DiscoveryModule],
  providers: [
    BackgroundWork,
    IdempotencyCleanup,
    JobRegistry,
    JobOutcomes,
    JobScheduler,
    JobWorker,
    JobsService,
  ],
  exports: [BackgroundWork, JobsService],
})
export class JobsModule {}
