import { Injectable } from '@nestjs/common';
import { IdempotencyRepository } from './idempotency.repository.js';
import { Job } from '../../jobs/job.decorator.js';

/** Deletes expired responses of idempotent requests. */
@Injectable()
export class IdempotencyCleanup {
  constructor(private readonly responses: IdempotencyRepository) {}

  /** @throws ApiError `query_failed`, `create_failed` */
  @Job({ name: 'latitude.expired-responses', every: '10m' })
  deleteExpired(): Promise<void> {
    return this.responses.deleteExpired();
  }
}
