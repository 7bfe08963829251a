import { randomUUID } from 'node:crypto';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { logger } from '../../config/logger.js';
import { Settings } from '../../config/settings.js';
import { Instances } from '../../database/connection/instances.js';
import { BatchQueue } from '../../database/gateway/batch-queue.js';
import { ApiError } from '../../errors/api-error.js';
import { ChangeBus } from '../../database/events/change-bus.js';
import { UUID } from '../../fields/kinds/uuid.js';
import type { MaybePromise } from '../../rate-limit/maybe-promise.js';
import type { Actor } from '../../tenancy/actor.js';
import { Session, type SessionStream, type SessionParameters } from './session.js';
import {
  type NewSession,
  SessionsRepository,
  type SessionUse,
  type StoredSession,
  WRITE_INTERVAL_MS,
} from './sessions.repository.js';
import { StoredSubscriptions } from './stored-subscriptions.js';

/** An estimate: a session can end at any time. */
const RETRY_AFTER_SECONDS = 30;

/**
 * The sessions that this instance knows (docs/contract/mcp.md#sessions). They are stored in the database, so
 * that every instance can continue them. A request of a known session needs no statement while no other
 * instance uses the database. Otherwise it looks the session up, because another instance may have ended it.
 */
@Injectable()
export class SessionStore implements BeforeApplicationShutdown {
  private readonly known = new Map<string, Session>();
  private readonly openings: BatchQueue<NewSession, boolean>;
  private readonly ttlMs: number;
  private usesWrittenAt = performance.now();
  private isShuttingDown = false;
  /** Whether other instances may use the sessions. */
  private mayBeShared = true;

  constructor(
    private readonly repository: SessionsRepository,
    private readonly subscriptions: StoredSubscriptions,
    private readonly changes: ChangeBus,
    private readonly instances: Instances,
    settings: Settings,
  ) {
    this.ttlMs = settings.mcpSessionTtlSeconds * 1_000;
    this.openings = new BatchQueue({ concurrency: 1 }, async (take) => {
      const sessions = take();
      const opened = await repository.open(sessions);
      return sessions.map(({ id }) => opened.has(id));
    });
  }

  /**
   * Opens a session for the caller's key.
   * @throws ApiError `too_many_sessions`, `create_failed`
   */
  async open(actor: Actor, parameters: SessionParameters): Promise<Session> {
    const session = new Session(randomUUID(), actor, parameters, this.changes);
    const isOpen = await this.openings.add({
      id: session.id,
      key_id: session.keyId,
      protocol_version: session.protocolVersion,
      client_name: session.clientName,
    });
    if (!isOpen) {
      throw new ApiError('too_many_sessions', {
        headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
      });
    }
    this.known.set(session.id, session);
    return session;
  }

  /**
   * Finds a session of the caller's key and extends its time to live.
   * @returns undefined when there is no such session or it has ended
   * @throws ApiError `session_mismatch`, `query_failed`
   */
  use(id: string, actor: Actor): MaybePromise<Session | undefined> {
    const session = this.known.get(id);
    if (session && !this.mayBeShared) {
      assertOwner(session.keyId, actor);
      session.touch();
      return session;
    }
    return UUID.test(id) ? this.restore(id.toLowerCase(), actor) : undefined;
  }

  /**
   * Ends a session with its stream and subscriptions. Streams on other instances end within a second.
   * @returns whether it had not ended before
   * @throws ApiError `create_failed`
   */
  async terminate(session: Session): Promise<boolean> {
    const wasOpen = await this.repository.delete(session.id);
    this.end(session);
    return wasOpen;
  }

  /**
   * Returns the number of a new stream of a session. Older streams on other instances end within a second.
   * @returns undefined when the session has ended
   * @throws ApiError `create_failed`
   */
  nextStreamNumber(session: Session): Promise<number | undefined> {
    return this.repository.nextStreamNumber(session.id);
  }

  /** Sends the events of a session to `stream`, or closes it when the application is shutting down. */
  attachStream(
    session: Session,
    stream: SessionStream,
    number: number,
    lastReceivedId: number,
  ): void {
    if (this.isShuttingDown) stream.close();
    else session.attachStream(stream, number, lastReceivedId);
  }

  /**
   * Ends the sessions that have expired, that another instance has ended or whose key is no longer valid,
   * and passes changed scopes to the others. Forgets unused sessions, so that an unused instance sends no
   * statements.
   * @throws ApiError `query_failed`; all sessions stay open
   */
  async revalidate(): Promise<void> {
    await this.writeRecentUses();
    this.forgetUnused();
    const sessions = [...this.known.values()];
    const checkForOthers = async () => {
      this.mayBeShared = sessions.length === 0 || (await this.instances.mayShareDatabase());
    };
    await Promise.all([this.refresh(sessions), checkForOthers()]);
  }

  /**
   * Applies the changes that other instances have made to the sessions with notifications. Called before
   * events are delivered, so that new and ended subscriptions apply to every later change on all instances.
   * @throws ApiError `query_failed`
   */
  async refreshNotified(): Promise<void> {
    if (!this.mayBeShared) return;
    await this.refresh([...this.known.values()].filter((session) => session.isNotified));
  }

  private async refresh(sessions: readonly Session[]): Promise<void> {
    if (sessions.length === 0) return;
    const read = sessions.map((session) => {
      return { session, changesBefore: session.subscriptionChanges };
    });
    const valid = await this.repository.findValid(sessions.map(({ id }) => id));
    const byId = new Map(valid.map((session) => [session.id, session]));
    const now = performance.now();
    const usedButExpired: SessionUse[] = [];
    for (const { session, changesBefore } of read) {
      const stored = byId.get(session.id);
      if (!stored || (stored.is_expired && session.idleMs(now) > this.ttlMs)) {
        this.end(session);
        continue;
      }
      session.closeReplacedStream(stored.stream_number);
      session.updateScopes(stored.scopes);
      // Other sessions read their subscriptions with their next request, which also reads missed changes.
      if (this.mayBeShared && session.isNotified) {
        const scopes = new Set(stored.scopes);
        this.subscriptions.replace(session, stored.subscriptions, scopes, changesBefore);
      }
      // The clock of the database was set forward.
      if (stored.is_expired) usedButExpired.push(useOf(session, now));
    }
    if (usedButExpired.length > 0) await this.repository.writeUses(usedButExpired);
  }

  /** Closes all streams, because open streams block the shutdown. Clients reconnect to another instance. */
  beforeApplicationShutdown(): void {
    this.isShuttingDown = true;
    for (const session of this.known.values()) session.closeStream();
  }

  all(): Iterable<Session> {
    return this.known.values();
  }

  /** Continues a session that another instance may have opened, changed or ended. */
  private async restore(id: string, actor: Actor): Promise<Session | undefined> {
    const changesBefore = this.known.get(id)?.subscriptionChanges ?? 0;
    const stored = await this.repository.find(id);
    const known = this.known.get(id);
    const isUsed = known !== undefined && known.idleMs(performance.now()) <= this.ttlMs;
    if (!stored || (stored.is_expired && !isUsed)) {
      if (known) this.end(known);
      return undefined;
    }
    assertOwner(stored.key_id, actor);
    const session = known ?? this.createFrom(id, stored, actor);
    session.touch();
    await this.subscriptions.catchUp(session, stored, actor, changesBefore);
    return session;
  }

  private createFrom(id: string, stored: StoredSession, actor: Actor): Session {
    const parameters = { protocolVersion: stored.protocol_version, clientName: stored.client_name };
    const usedAt = new Date(stored.last_used_at.getTime() - WRITE_INTERVAL_MS);
    const session = new Session(id, actor, parameters, this.changes, stored.age_ms, usedAt);
    this.known.set(id, session);
    return session;
  }

  private end(session: Session): void {
    this.known.delete(session.id);
    session.terminate();
  }

  /** Writes the uses since the last time, at most once a minute. */
  private async writeRecentUses(): Promise<void> {
    const now = performance.now();
    const elapsedMs = now - this.usesWrittenAt;
    if (elapsedMs < WRITE_INTERVAL_MS) return;
    const uses = [...this.known.values()]
      .map((session) => useOf(session, now))
      .filter(({ idle_seconds }) => idle_seconds * 1_000 <= elapsedMs);
    try {
      if (uses.length > 0) await this.repository.writeUses(uses);
      this.usesWrittenAt = now;
    } catch (error) {
      logger.warn({ err: error }, 'the use of sessions could not be written');
    }
  }

  /** Removes sessions from memory whose use is written and that have no notifications for their clients. */
  private forgetUnused(): void {
    const now = performance.now();
    for (const session of this.known.values()) {
      const idleMs = session.idleMs(now);
      const isWritten = idleMs >= WRITE_INTERVAL_MS && now - idleMs < this.usesWrittenAt;
      if (isWritten && !session.hasNotifications) this.known.delete(session.id);
    }
  }
}

function useOf(session: Session, now: number): SessionUse {
  return { id: session.id, idle_seconds: session.idleMs(now) / 1_000 };
}

function assertOwner(keyId: string, { key }: Actor): void {
  if (keyId !== key.id) throw new ApiError('session_mismatch');
}
