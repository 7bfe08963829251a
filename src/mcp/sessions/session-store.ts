import { randomUUID } from 'node:crypto';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { ApiError } from '../../errors/api-error.js';
import { ChangeBus } from '../../events/change-bus.js';
import type { Actor } from '../../tenancy/actor.js';
import { Session, type SessionStream } from './session.js';

/** Places fall free whenever a client leaves, so there is no time to tell. */
const RETRY_AFTER_SECONDS = 30;

/** The sessions of /mcp (docs/contract/mcp.md#sessions). */
@Injectable()
export class SessionStore implements BeforeApplicationShutdown {
  private readonly sessions = new Map<string, Session>();
  private isClosing = false;

  constructor(
    private readonly settings: Settings,
    private readonly changes: ChangeBus,
  ) {}

  /**
   * Takes a place for a session of the caller's key.
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
   * Finds a session that the caller's key has opened, and extends its life.
   * @returns undefined where there is none, or none any more
   * @throws ApiError `session_mismatch`
   */
  touch(id: string, { key }: Actor): Session | undefined {
    const session = this.sessions.get(id);
    if (!session || this.hasExpired(session)) return undefined;
    if (session.keyId !== key.id) throw new ApiError('session_mismatch');
    session.touch();
    return session;
  }

  /** Ends a session with its stream and subscriptions, and frees its place. */
  terminate(session: Session): void {
    this.sessions.delete(session.id);
    session.terminate();
  }

  /** Ends those that nothing has used for their time to live. */
  terminateExpired(): void {
    for (const session of this.sessions.values())
      if (this.hasExpired(session)) this.terminate(session);
  }

  /** Lets a stream have the events of a session, unless the application is closing. */
  attachStream(session: Session, stream: SessionStream, after: number): void {
    if (this.isClosing) stream.close();
    else session.attachStream(stream, after);
  }

  /** Streams would keep the server from going; their clients come back to another one. */
  beforeApplicationShutdown(): void {
    this.isClosing = true;
    for (const session of this.sessions.values()) session.closeStream();
  }

  all(): Iterable<Session> {
    return this.sessions.values();
  }

  /** How many are open, and how many of them have a stream. */
  counts(): { sessions: number; streams: number } {
    const streaming = [...this.sessions.values()].filter(({ isStreaming }) => isStreaming);
    return { sessions: this.sessions.size, streams: streaming.length };
  }

  private hasExpired(session: Session): boolean {
    return session.isIdleSince(performance.now() - this.settings.mcpSessionTtlSeconds * 1_000);
  }
}
