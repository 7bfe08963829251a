import { randomUUID } from 'node:crypto';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { logger } from '../../config/logger.js';
import { Settings } from '../../config/settings.js';
import { BatchQueue } from '../../database/gateway/batch-queue.js';
import { ApiError } from '../../errors/api-error.js';
import { ChangeBus } from '../../database/events/change-bus.js';
import { UUID } from '../../fields/uuid.js';
import type { MaybePromise } from '../../rate-limit/maybe-promise.js';
import type { Actor } from '../../tenancy/actor.js';
import { type ResourceReference, ResourceRegistry } from '../resources/resource-registry.js';
import { Session, type SessionStream, type SessionTerms } from './session.js';
import {
  type NewSession,
  SessionsRepository,
  type SessionUse,
  type StoredSession,
  WRITE_INTERVAL_MS,
} from './sessions.repository.js';

/** An estimate: a session can end at any time. */
const RETRY_AFTER_SECONDS = 30;

/**
 * The sessions that this instance knows (docs/contract/mcp.md#sessions). They are stored in the database, so
 * that every instance can continue them. A request of a known session needs no statement.
 */
@Injectable()
export class SessionStore implements BeforeApplicationShutdown {
  private readonly known = new Map<string, Session>();
  private readonly openings: BatchQueue<NewSession, boolean>;
  private readonly ttlMs: number;
  private usesWrittenAt = performance.now();
  private isShuttingDown = false;

  constructor(
    private readonly repository: SessionsRepository,
    private readonly resources: ResourceRegistry,
    private readonly changes: ChangeBus,
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
  async open(actor: Actor, terms: SessionTerms): Promise<Session> {
    const session = new Session(randomUUID(), actor, terms, this.changes);
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
    if (!session) return UUID.test(id) ? this.restore(id.toLowerCase(), actor) : undefined;
    assertOwner(session.keyId, actor);
    session.touch();
    return session;
  }

  /**
   * Ends a session with its stream and subscriptions, on every instance within a second.
   * @returns whether it had not ended before
   * @throws ApiError `create_failed`
   */
  async terminate(session: Session): Promise<boolean> {
    const wasOpen = await this.repository.delete(session.id);
    this.end(session);
    return wasOpen;
  }

  /**
   * Subscribes a session to a record.
   * @returns false when the limit of subscriptions is reached
   * @throws ApiError `create_failed`
   */
  async subscribe(session: Session, resource: ResourceReference): Promise<boolean> {
    if (!session.subscribe(resource)) return false;
    await this.repository.addSubscription(session.id, resource.uri);
    return true;
  }

  /** @throws ApiError `create_failed` */
  async unsubscribe(session: Session, canonicalUri: string): Promise<void> {
    session.unsubscribe(canonicalUri);
    await this.repository.removeSubscription(session.id, canonicalUri);
  }

  /** Sends the events of a session to `stream`, or closes it when the application is shutting down. */
  attachStream(session: Session, stream: SessionStream, lastReceivedId: number): void {
    if (this.isShuttingDown) stream.close();
    else session.attachStream(stream, lastReceivedId);
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
    if (sessions.length === 0) return;
    const valid = await this.repository.findValid(sessions.map(({ id }) => id));
    const byId = new Map(valid.map((session) => [session.id, session]));
    const now = performance.now();
    const usedButExpired: SessionUse[] = [];
    for (const session of sessions) {
      const stored = byId.get(session.id);
      const idleMs = session.idleMs(now);
      if (!stored || (stored.is_expired && idleMs > this.ttlMs)) {
        this.end(session);
        continue;
      }
      session.updateScopes(stored.scopes);
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

  /** Continues a session that another instance opened, or this one before it was restarted. */
  private async restore(id: string, actor: Actor): Promise<Session | undefined> {
    const stored = await this.repository.find(id);
    if (!stored) return undefined;
    assertOwner(stored.key_id, actor);
    // Another request may have restored it in the meantime.
    const known = this.known.get(id);
    const session = known ?? this.createFrom(id, stored, actor);
    session.touch();
    if (!known) await this.catchUp(session, stored, actor);
    return session;
  }

  /** Notifies a restored session of what has changed since an instance last wrote its use. */
  private async catchUp(session: Session, stored: StoredSession, actor: Actor): Promise<void> {
    if (stored.subscriptions.length === 0) return;
    const since = new Date(stored.last_used_at.getTime() - WRITE_INTERVAL_MS);
    const references = stored.subscriptions.flatMap((uri) => this.resources.referenceOf(uri) ?? []);
    const changed = await this.resources.changedSince(actor, since, references);
    for (const { uri } of changed) session.notifyUpdated(uri);
  }

  private createFrom(id: string, stored: StoredSession, actor: Actor): Session {
    const terms = { protocolVersion: stored.protocol_version, clientName: stored.client_name };
    const session = new Session(id, actor, terms, this.changes, stored.age_ms);
    for (const uri of stored.subscriptions) {
      const resource = this.resources.referenceOf(uri);
      if (resource && actor.scopes.has(resource.kind.scope)) session.subscribe(resource);
    }
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

  /** Forgets sessions whose use is written and that have nothing to notify their clients of. */
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
