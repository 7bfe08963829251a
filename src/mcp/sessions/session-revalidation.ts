import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { logger } from '../../config/logger.js';
import { EventFollower } from '../../events/event-follower.js';
import { SessionStore } from './session-store.js';

/** Sessions must end within one second after their key is revoked or expires. */
const INTERVAL_MS = 700;

/** Periodically ends expired sessions, those that other instances ended, and those of invalid keys. */
@Injectable()
export class SessionRevalidation implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(
    private readonly sessions: SessionStore,
    private readonly follower: EventFollower,
  ) {}

  onApplicationBootstrap(): void {
    this.follower.beforeEvents(() => this.sessions.refreshNotified());
    this.schedule();
  }

  onModuleDestroy(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  private schedule(): void {
    if (this.isStopped) return;
    this.timer = setTimeout(() => {
      this.sessions
        .revalidate()
        .catch((error: unknown) => {
          logger.warn({ err: error }, 'the open sessions could not be looked up');
        })
        .finally(() => {
          this.schedule();
        });
    }, INTERVAL_MS).unref();
  }
}
