import { Injectable } from '@nestjs/common';
import { AccessRepository } from '../access/access.repository.js';
import { IdempotencyRepository } from '../data/idempotency.repository.js';
import { Job } from './job.decorator.js';

/** Deletes expired responses of idempotent requests. */
@Injectable()
export class IdempotencyCleanup {
  constructor(
    private readonly access: AccessRepository,
    private readonly responses: IdempotencyRepository,
  ) {}

  /** @throws ApiError `query_failed`, `create_failed` */
  @Job({ name: 'latitude.expired-responses', every: '10m' })
  async deleteExpired(): Promise<void> {
    for (const id of await this.access.organizationIds()) {
      await this.responses.deleteExpired({ tenant: { id } });
    }
    await this.responses.deleteExpiredOfOperators();
  }
}
