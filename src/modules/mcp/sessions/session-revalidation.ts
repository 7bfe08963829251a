import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { repeat } from '../../../platform/config/repeated-work.js';
import { Settings } from '../../../platform/config/settings.js';
import { EventFollower } from '../../events/event-follower.js';
import { lifetimeOf } from './session-lifetime.js';
import { SessionStore } from './session-store.js';

/** Sessions must end within one second after their key is revoked or expires. */
const INTERVAL_MS = 700;

/** Periodically postpones the end of sessions with streams, and ends expired sessions, those that other instances ended, and those of invalid keys. */
@Injectable()
export class SessionRevalidation implements OnApplicationBootstrap, OnModuleDestroy {
  private stops: (() => void)[] = [];

  constructor(
    private readonly sessions: SessionStore,
    private readonly follower: EventFollower,
    private readonly settings: Settings,
  ) {}

  onApplicationBootstrap(): void {
    const { sessions } = this;
    this.follower.beforeEvents(() => sessions.refreshNotified());
    this.stops = [
      repeat(() => sessions.revalidate(), INTERVAL_MS, 'the open sessions could not be looked up'),
      repeat(
        () => sessions.postponeEndsInUse(),
        lifetimeOf(this.settings).pauseMs,
        'the use of sessions could not be stored',
      ),
    ];
  }

  onModuleDestroy(): void {
    for (const stop of this.stops) stop();
  }
}
