import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { BackgroundWork } from './background-work.js';
import { IdempotencyCleanup } from './idempotency-cleanup.js';
import { JobRegistry } from './job-registry.js';
import { JobWorker } from './job-worker.js';
import { JobsService } from './jobs.service.js';

/** Sends and runs jobs, for all modules. */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [BackgroundWork, IdempotencyCleanup, JobRegistry, JobWorker, JobsService],
  exports: [BackgroundWork, JobsService],
})
export class JobsModule {}
