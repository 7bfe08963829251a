import { Injectable } from '@nestjs/common';
import { logger } from '../../config/logger.js';
import { Settings } from '../../config/settings.js';
import { Instances } from '../../data/instances.js';
import { RateLimits } from './rate-limits.js';

/** Warns if several instances use one database and do not share the rate limits. */
@Injectable()
export class UnsharedLimitsWarning {
  constructor(
    private readonly instances: Instances,
    private readonly limits: RateLimits,
    private readonly settings: Settings,
  ) {}

  /** Returns the warning for operators; undefined if there is no problem. */
  async message(): Promise<string | undefined> {
    if (this.limits.areShared) return undefined;
    const count = await this.instances.count();
    if (count < 2) return undefined;
    const reason = this.settings.redisUrl
      ? 'because Redis cannot be used'
      : 'because REDIS_URL is not set';
    return `${count} instances use this database, and each has rate limits of its own, ${reason}.`;
  }

  async log(): Promise<void> {
    const message = await this.message();
    if (message) logger.warn(message);
  }
}
