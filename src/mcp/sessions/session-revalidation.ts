import { Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Authenticator } from '../../auth/authenticator.js';
import { logger } from '../../config/logger.js';
import { ApiError } from '../../errors/api-error.js';
import type { Actor } from '../../tenancy/actor.js';
import { SubscriptionStreams } from '../subscriptions/subscription-streams.js';
import { SessionStore } from './session-store.js';

/** Sessions and streams must end within one second after their key is revoked or expires. */
const INTERVAL_MS = 700;

type Scopes = ReadonlyMap<string, readonly string[]>;

/** A session or a stream of a key. */
interface Revalidated {
  readonly keyId: string;
  updateScopes(scopes: readonly string[]): void;
}

/** Periodically ends expired sessions, and the sessions and streams of keys that are no longer valid. */
@Injectable()
export class SessionRevalidation implements OnApplicationBootstrap, OnModuleDestroy {
  private timer: NodeJS.Timeout | undefined;
  private isStopped = false;

  constructor(
    private readonly sessions: SessionStore,
    private readonly streams: SubscriptionStreams,
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
   * Looks up a key without the cache. A stream must not start after its key has become invalid, even
   * while the cache still accepts the key for other requests.
   * @throws ApiError `unauthorized`, `query_failed`
   */
  async assertActive({ key }: Actor): Promise<void> {
    const scopes = await this.authenticator.findScopes([key.id]);
    if (!scopes.has(key.id)) throw new ApiError('unauthorized');
  }

  /**
   * Ends sessions and streams of invalid keys, and passes changed scopes to the others.
   * @throws ApiError `query_failed`; all sessions and streams stay open
   */
  async revalidate(): Promise<void> {
    this.sessions.terminateExpired();
    const sessions = [...this.sessions.all()];
    const streams = [...this.streams.all()];
    const keyIds = new Set([...sessions, ...streams].map(({ keyId }) => keyId));
    if (keyIds.size === 0) return;
    const scopes = await this.authenticator.findScopes([...keyIds]);
    apply(scopes, sessions, (session) => {
      this.sessions.terminate(session);
    });
    apply(scopes, streams, (stream) => {
      this.streams.close(stream);
    });
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

function apply<T extends Revalidated>(scopes: Scopes, open: readonly T[], end: (one: T) => void) {
  for (const one of open) {
    const ofKey = scopes.get(one.keyId);
    if (ofKey) one.updateScopes(ofKey);
    else end(one);
  }
}
