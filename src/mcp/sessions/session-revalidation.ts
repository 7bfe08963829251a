import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Authenticator } from '../../auth/authenticator.js';
import { logger } from '../../config/logger.js';
import { ApiError } from '../../errors/api-error.js';
import type { Actor } from '../../tenancy/actor.js';
import { SubscriptionStreams } from '../subscriptions/subscription-streams.js';
import { SessionStore } from './session-store.js';

/** A key that is revoked or expires is refused within one second, its streams included. */
const INTERVAL_MS = 700;

type Scopes = ReadonlyMap<string, readonly string[]>;

/** What a key has opened. */
interface Opened {
  readonly keyId: string;
  updateScopes(scopes: readonly string[]): void;
}

/** Ends what keys have opened that are no longer valid, and the sessions that nothing uses. */
@Injectable()
export class SessionRevalidation implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(
    private readonly sessions: SessionStore,
    private readonly listeners: SubscriptionStreams,
    private readonly authenticator: Authenticator,
  ) {}

  onApplicationBootstrap(): void {
    this.schedule();
  }

  onModuleDestroy(): void {
    this.isStopped = true;
    clearTimeout(this.timer);
  }

  /**
   * Holds a key to what it is at this moment: what stays open must not begin behind its end, which its
   * other requests may learn of a little later.
   * @throws ApiError `unauthorized`, `query_failed`
   */
  async assertActive({ key }: Actor): Promise<void> {
    const scopes = await this.authenticator.scopesOf([key.id]);
    if (!scopes.has(key.id)) throw new ApiError('unauthorized');
  }

  /** @throws ApiError `query_failed`; then nothing is known of the keys, and what they opened stays */
  async revalidate(): Promise<void> {
    this.sessions.terminateExpired();
    const sessions = [...this.sessions.all()];
    const listeners = [...this.listeners.all()];
    const keyIds = new Set([...sessions, ...listeners].map(({ keyId }) => keyId));
    if (keyIds.size === 0) return;
    const scopes = await this.authenticator.scopesOf([...keyIds]);
    follow(scopes, sessions, (session) => {
      this.sessions.terminate(session);
    });
    follow(scopes, listeners, (listener) => {
      this.listeners.close(listener);
    });
  }

  private schedule(): void {
    if (this.isStopped) return;
    this.timer = setTimeout(() => {
      this.revalidate()
        .catch((error: unknown) => {
          logger.warn({ err: error }, 'keys of open sessions could not be looked up');
        })
        .finally(() => {
          this.schedule();
        });
    }, INTERVAL_MS).unref();
  }
}

function follow<T extends Opened>(scopes: Scopes, opened: readonly T[], end: (one: T) => void) {
  for (const one of opened) {
    const ofKey = scopes.get(one.keyId);
    if (ofKey) one.updateScopes(ofKey);
    else end(one);
  }
}
