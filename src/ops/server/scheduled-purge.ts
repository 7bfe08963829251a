import { Injectable, Module } from '@nestjs/common';
import { logger } from '../../platform/config/logger.js';
import { Settings } from '../../platform/config/settings.js';
import type { Call } from '../../platform/data/call.js';
import { RecordRemoval } from '../../platform/data/records/record-removal.service.js';
import { Job } from '../../platform/jobs/job.decorator.js';

/** Removes deleted records permanently, as `latitude purge` does. */
@Injectable()
export class ScheduledPurge {
  constructor(
    private readonly removal: RecordRemoval,
    private readonly settings: Settings,
  ) {}

  @Job({ name: 'latitude.purge', every: '1d', perOrganization: true, concurrency: 1, retries: 3 })
  async purge(call: Call): Promise<void> {
    const { purgeAfter } = this.settings;
    if (purgeAfter === undefined) return;
    const removed = await this.removal.purge(call, new Date(Date.now() - purgeAfter));
    const isAny = Object.values(removed).some((records) => records > 0);
    if (isAny)
      logger.info({ organization: call.tenant.id, removed }, 'deleted records were purged');
  }
}

/** Has the job. The start imports it only if the setting `PURGE_AFTER` is set. */
@Module({ providers: [ScheduledPurge] })
export class ScheduledPurgeModule {}
