import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { AccessRepository } from '../access/access.repository.js';
import { logger } from '../config/logger.js';
import { IdempotencyRepository } from '../data/idempotency.repository.js';

const INTERVAL_MS = 10 * 60_000;

/** Deletes expired responses of idempotent requests periodically. */
@Injectable()
export class IdempotencyCleanup implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly access: AccessRepository,
    private readonly responses: IdempotencyRepository,
  ) {}

  onApplicationBootstrap(): void {
    this.timer = setInterval(() => {
      this.deleteExpired().catch((error: unknown) => {
        logger.warn({ err: error }, 'expired responses of idempotent requests were not deleted');
      });
    }, INTERVAL_MS).unref();
  }

  onModuleDestroy(): void {
    clearInterval(this.timer);
  }

  /** @throws ApiError `query_failed`, `create_failed` */
  async deleteExpired(): Promise<void> {
    for (const id of await this.access.organizationIds()) {
      await this.responses.deleteExpired({ id });
    }
  }
}
