import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { RepeatedWork } from '../../../platform/config/repeated-work.js';
import { Settings } from '../../../platform/config/settings.js';
import { EventFollower } from '../../events/event-follower.js';
import { lifetimeOf } from './session-lifetime.js';
import { SessionStore } from './session-store.js';

/** Sessions must end within one second after their key is revoked or expires. */
const INTERVAL_MS = 700;

/** Periodically postpones the end of sessions with streams, and ends expired sessions, those that other instances ended, and those of invalid keys. */
@Injectable()
export class SessionRevalidation implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly loop = new RepeatedWork(
    () => this.sessions.revalidate(),
    INTERVAL_MS,
    'the open sessions could not be looked up',
  );

  private readonly postponements: RepeatedWork;

  constructor(
    private readonly sessions: SessionStore,
    private readonly follower: EventFollower,
    settings: Settings,
  ) {
    this.postponements = new RepeatedWork(
      () => sessions.postponeEndsInUse(),
      lifetimeOf(settings).pauseMs,
      'the use of sessions could not be stored',
    );
  }

  onApplicationBootstrap(): void {
    this.follower.beforeEvents(() => this.sessions.refreshNotified());
    this.loop.start();
    this.postponements.start();
  }

  onModuleDestroy(): void {
    this.loop.stop();
    this.postponements.stop();
  }
}
