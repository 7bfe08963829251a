import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Authenticator, isExpired } from '../../auth/authenticator.js';
import { logger } from '../../config/logger.js';
import { EventFollower } from '../../events/event-follower.js';
import { ApiError } from '../../errors/api-error.js';
import type { Actor } from '../../tenancy/actor.js';
import { SubscriptionStreams } from '../subscriptions/subscription-streams.js';
import { SessionStore } from './session-store.js';

/** Sessions and streams must end within one second after their key is revoked or expires. */
const INTERVAL_MS = 700;

/** Periodically ends expired sessions, those that other instances ended, and sessions and streams of invalid keys. */
@Injectable()
export class SessionRevalidation implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(
    private readonly sessions: SessionStore,
    private readonly streams: SubscriptionStreams,
    private readonly authenticator: Authenticator,
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

  /**
   * Looks up a key without the cache. A stream must not start after its key has become invalid, even
   * while the cache still accepts the key for other requests. A token is valid until it expires.
   * @throws ApiError `unauthorized`, `query_failed`
   */
  async assertActive({ key }: Actor): Promise<void> {
    if (key.subject !== undefined) return;
    const scopes = await this.authenticator.findScopes([key.id]);
    if (!scopes.has(key.id)) throw new ApiError('unauthorized');
  }

  private async revalidate(): Promise<void> {
    await Promise.all([this.sessions.revalidate(), this.revalidateStreams()]);
  }

  /** Ends streams of expired tokens and invalid keys, and passes changed scopes to the others. */
  private async revalidateStreams(): Promise<void> {
    for (const stream of this.streams.all()) if (isExpired(stream)) this.streams.close(stream);
    const streams = [...this.streams.all()].filter(({ key }) => key.subject === undefined);
    if (streams.length === 0) return;
    const keyIds = new Set(streams.map(({ key }) => key.id));
    const scopes = await this.authenticator.findScopes([...keyIds]);
    for (const stream of streams) {
      const ofKey = scopes.get(stream.key.id);
      if (ofKey) stream.updateScopes(ofKey);
      else this.streams.close(stream);
    }
  }

  private schedule(): void {
    if (this.isStopped) return;
    this.timer = setTimeout(() => {
      this.revalidate()
        .catch((error: unknown) => {
          logger.warn({ err: error }, 'the keys of open sessions could not be looked up');
        })
        .finally(() => {
          this.schedule();
        });
    }, INTERVAL_MS).unref();
  }
}
