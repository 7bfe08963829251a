import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Authenticator } from '../../auth/authenticator.js';
import { logger } from '../../config/logger.js';
import { ApiError } from '../../errors/api-error.js';
import type { Actor } from '../../tenancy/actor.js';
import { Listeners } from '../subscriptions/listeners.js';
import { Sessions } from './sessions.js';

/** A key that is revoked or expires is refused within one second, its streams included. */
const EVERY_MS = 700;

type Scopes = ReadonlyMap<string, readonly string[]>;

/** What a key has opened. */
interface Opened {
  readonly keyId: string;
  followScopes(scopes: readonly string[]): void;
}

/** Ends what keys have opened that are no longer valid, and the sessions that nothing uses. */
@Injectable()
export class KeyWatch implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(
    private readonly sessions: Sessions,
    private readonly listeners: Listeners,
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
  async confirm({ key }: Actor): Promise<void> {
    const scopes = await this.authenticator.scopesOf([key.id]);
    if (!scopes.has(key.id)) throw new ApiError('unauthorized');
  }

  /** @throws ApiError `query_failed`; then nothing is known of the keys, and what they opened stays */
  async look(): Promise<void> {
    this.sessions.endIdle();
    const sessions = [...this.sessions.all()];
    const listeners = [...this.listeners.all()];
    const keyIds = new Set([...sessions, ...listeners].map(({ keyId }) => keyId));
    if (keyIds.size === 0) return;
    const scopes = await this.authenticator.scopesOf([...keyIds]);
    follow(scopes, sessions, (session) => {
      this.sessions.end(session);
    });
    follow(scopes, listeners, (listener) => {
      this.listeners.end(listener);
    });
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

function follow<T extends Opened>(scopes: Scopes, opened: readonly T[], end: (one: T) => void) {
  for (const one of opened) {
    const ofKey = scopes.get(one.keyId);
    if (ofKey) one.followScopes(ofKey);
    else end(one);
  }
}
