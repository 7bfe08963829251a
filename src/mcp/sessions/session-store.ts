import { randomUUID } from 'node:crypto';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { ApiError } from '../../errors/api-error.js';
import { ChangeBus } from '../../events/change-bus.js';
import type { Actor } from '../../tenancy/actor.js';
import { Session, type SessionStream } from './session.js';

/** An estimate: a session can end at any time. */
const RETRY_AFTER_SECONDS = 30;

/** The open sessions (docs/contract/mcp.md#sessions). */
@Injectable()
export class SessionStore implements BeforeApplicationShutdown {
  private readonly sessions = new Map<string, Session>();
  private isShuttingDown = false;

  constructor(
    private readonly settings: Settings,
    private readonly changes: ChangeBus,
  ) {}

  /**
   * Opens a session for the caller's key.
   * @throws ApiError `too_many_sessions`
   */
  open(actor: Actor): Session {
    this.terminateExpired();
    if (this.sessions.size >= this.settings.mcpMaxSessions) {
      throw new ApiError('too_many_sessions', {
        headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
      });
    }
    const session = new Session(randomUUID(), actor, this.changes);
    this.sessions.set(session.id, session);
    return session;
  }

  /**
   * Finds a session of the caller's key and extends its time to live.
   * @returns undefined when there is no such session or it has expired
   * @throws ApiError `session_mismatch`
   */
  touch(id: string, { key }: Actor): Session | undefined {
    const session = this.sessions.get(id);
    if (!session || this.hasExpired(session)) return undefined;
    if (session.keyId !== key.id) throw new ApiError('session_mismatch');
    session.touch();
    return session;
  }

  /** Ends a session with its stream and subscriptions. */
  terminate(session: Session): void {
    this.sessions.delete(session.id);
    session.terminate();
  }

  terminateExpired(): void {
    for (const session of this.sessions.values()) {
      if (this.hasExpired(session)) this.terminate(session);
    }
  }

  /** Sends the events of a session to `stream`, or closes it when the application is shutting down. */
  attachStream(session: Session, stream: SessionStream, after: number): void {
    if (this.isShuttingDown) stream.close();
    else session.attachStream(stream, after);
  }

  /** Closes all streams, because open streams block the shutdown. Clients reconnect to another instance. */
  beforeApplicationShutdown(): void {
    this.isShuttingDown = true;
    for (const session of this.sessions.values()) session.closeStream();
  }

  all(): Iterable<Session> {
    return this.sessions.values();
  }

  private hasExpired(session: Session): boolean {
    return session.isIdleSince(performance.now() - this.settings.mcpSessionTtlSeconds * 1_000);
  }
}
