import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { RepeatedWork } from '../../config/repeated-work.js';
import { EventFollower } from '../../events/event-follower.js';
import { SessionStore } from './session-store.js';

/** Sessions must end within one second after their key is revoked or expires. */
const INTERVAL_MS = 700;

/** Periodically ends expired sessions, those that other instances ended, and those of invalid keys. */
@Injectable()
export class SessionRevalidation implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly loop = new RepeatedWork(
    () => this.sessions.revalidate(),
    INTERVAL_MS,
    'the open sessions could not be looked up',
  );

  constructor(
    private readonly sessions: SessionStore,
    private readonly follower: EventFollower,
  ) {}

  onApplicationBootstrap(): void {
    this.follower.beforeEvents(() => this.sessions.refreshNotified());
    this.loop.start();
  }

  onModuleDestroy(): void {
    this.loop.stop();
  }
}
