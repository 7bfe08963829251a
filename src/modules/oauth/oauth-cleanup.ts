import { Injectable } from '@nestjs/common';
import { Job } from '../../platform/jobs/job.decorator.js';
import { OAuthRepository } from './oauth.repository.js';

/** Deletes expired codes and tokens, and registrations that were never used. */
@Injectable()
export class OAuthCleanup {
  constructor(private readonly repository: OAuthRepository) {}

  /** @throws ApiError `create_failed` */
  @Job({ name: 'latitude.expired-sign-ins', every: '10m' })
  async deleteExpired(): Promise<void> {
    await this.repository.deleteExpired();
  }
}
