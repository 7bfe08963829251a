import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { AccessRepository } from '../access/access.repository.js';
import { RepeatedWork } from '../config/repeated-work.js';
import { IdempotencyRepository } from '../data/idempotency.repository.js';

const INTERVAL_MS = 10 * 60_000;

/** Deletes expired responses of idempotent requests periodically. */
@Injectable()
export class IdempotencyCleanup implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly loop = new RepeatedWork(
    () => this.deleteExpired(),
    INTERVAL_MS,
    'expired responses of idempotent requests were not deleted',
  );

  constructor(
    private readonly access: AccessRepository,
    private readonly responses: IdempotencyRepository,
  ) {}

  onApplicationBootstrap(): void {
    this.loop.start();
  }

  onModuleDestroy(): void {
    this.loop.stop();
  }

  /** @throws ApiError `query_failed`, `create_failed` */
  async deleteExpired(): Promise<void> {
    for (const id of await this.access.organizationIds()) {
      await this.responses.deleteExpired({ tenant: { id } });
    }
  }
}
