import { Injectable } from '@nestjs/common';
import type { Call } from '../../../platform/data/call.js';
import type { JobRun } from '../../../platform/jobs/job.js';
import { Job, JobHandler } from '../../../platform/jobs/job.decorator.js';
import { LeadImportRunner } from './lead-import-runner.js';
import { LeadImportsRepository } from './lead-imports.repository.js';
import { IMPORT_LEADS, LeadImportsService } from './lead-imports.service.js';

/** How long a job waits for another import of the organization, or for the lease of a process that has ended. */
const BUSY_DELAY = '5s';

/** Carries out imports, and removes old ones. */
@Injectable()
export class LeadImportsJobs {
  constructor(
    private readonly runner: LeadImportRunner,
    private readonly imports: LeadImportsService,
    private readonly repository: LeadImportsRepository,
  ) {}

  @JobHandler(IMPORT_LEADS)
  async import(call: Call, { importId }: { importId: string }, { attempt }: JobRun): Promise<void> {
    const result = await this.runner.run(call, importId, attempt > 1);
    if (result === 'busy') await this.imports.sendJob(call, importId, BUSY_DELAY);
    else if (result === 'released') await this.imports.sendJob(call, importId);
  }

  @Job({ name: 'leads.import-clean-up', every: '1h', perOrganization: true })
  async cleanUp(call: Call): Promise<void> {
    await this.repository.removeOld(call);
  }
}
