import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Authenticator } from '../auth/authenticator.js';
import { logger } from '../config/logger.js';
import { Sessions } from './sessions.js';

/** A key that is revoked or expires is refused within one second, its streams included. */
const EVERY_MS = 700;

/** Ends the sessions of keys that are no longer valid, and those that nothing uses. */
@Injectable()
export class SessionWatch implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(
    private readonly sessions: Sessions,
    private readonly authenticator: Authenticator,
  ) {}

  onApplicationBootstrap(): void {
    this.schedule();
  }

  onModuleDestroy(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  /** @throws ApiError `query_failed`; then nothing is known of the keys, and their sessions stay */
  async look(): Promise<void> {
    this.sessions.endIdle();
    const open = [...this.sessions.all()];
    if (open.length === 0) return;
    const scopes = await this.authenticator.scopesOf([...new Set(open.map(({ keyId }) => keyId))]);
    for (const session of open) {
      const ofKey = scopes.get(session.keyId);
      if (ofKey) session.followScopes(ofKey);
      else this.sessions.end(session);
    }
  }

  private schedule(): void {
    if (this.isStopped) return;
    this.timer = setTimeout(() => {
      this.look()
        .catch((error: unknown) => {
          logger.warn({ err: error }, 'keys of open sessions could not be looked up');
        })
        .finally(() => {
          this.schedule();
        });
    }, EVERY_MS).unref();
  }
}
