import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { BackgroundWork } from './background-work.js';
import { JobBacklog } from './job-backlog.js';
import { JobQueueRepository } from './job-queue.repository.js';
import { JobRegistry } from './job-registry.js';
import { JobWorker } from './job-worker.js';
import { JobsService } from './jobs.service.js';
import { Leases } from './leases.js';

/** Sends and runs jobs, for all modules. */
@Global()
@Module({
  imports: [DiscoveryModule],
  providers: [
    BackgroundWork,
    JobBacklog,
    JobQueueRepository,
    JobRegistry,
    JobWorker,
    JobsService,
    Leases,
  ],
  exports: [BackgroundWork, JobsService, Leases],
})
export class JobsModule {}
