import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { repeat } from '../../platform/config/repeated-work.js';
import { OAuthRepository } from './oauth.repository.js';

const INTERVAL_MS = 10 * 60_000;

/** Periodically deletes expired codes and tokens, and registrations that were never used. */
@Injectable()
export class OAuthCleanup implements OnApplicationBootstrap, OnModuleDestroy {
  private stop = (): void => undefined;

  constructor(private readonly repository: OAuthRepository) {}

  onApplicationBootstrap(): void {
    this.stop = repeat(
      () => this.repository.deleteExpired(),
      INTERVAL_MS,
      'expired codes and tokens were not deleted',
    );
  }

  onModuleDestroy(): void {
    this.stop();
  }
}
