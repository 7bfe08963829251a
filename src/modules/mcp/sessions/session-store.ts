import { randomUUID } from 'node:crypto';
import {
  type BeforeApplicationShutdown,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
} from '@nestjs/common';
import { repeat } from '../../../platform/config/repeated-work.js';
import { Settings } from '../../../platform/config/settings.js';
import { Instances } from '../../../platform/data/instances.js';
import { BatchQueue } from '../../../platform/data/gateway/queues.js';
import { ApiError } from '../../../platform/errors/api-error.js';
import { ChangeBus } from '../../../platform/data/gateway/change-bus.js';
import { UUID } from '../../../platform/fields/kinds/uuid.js';
import type { Call } from '../../../platform/data/call.js';
import { isSuspension, ORGANIZATION_UPDATED } from '../../auth/organization-events.js';
import { OnDurableEvent } from '../../events/event-handler.decorator.js';
import type { RecordedEvent } from '../../events/recorded-event.js';
import { EventFollower } from '../../events/event-follower.js';
import { Session, type SessionParameters, type SessionStream } from './session.js';
import { lifetimeOf } from './session-lifetime.js';
import { type NewSession, SessionsRepository, type StoredSession } from './sessions.repository.js';
import { StoredSubscriptions } from './stored-subscriptions.js';

/** Sessions must end within one second after their key is revoked or expires. */
const REVALIDATION_MS = 700;

/** An estimate: a session or a stream can end at any time. */
const RETRY_AFTER_SECONDS = 30;

/** How many statements that open sessions run at a time. If the connection of one is silent, the other still opens some. */
const CONCURRENT_OPENINGS = 2;

/** The time in which an instance notices that it has lost a stream. A restored session sends the changes of this time again. */
const STREAM_LOSS_MS = 60_000;

/** A session that is unused for this time is removed from memory. */
const MAX_UNUSED_MS = 60_000;

/**
 * The sessions that this instance knows (docs/contract/mcp.md#sessions). They are stored in the database, so
 * that every instance can continue them. A request of a known session needs no statement while its end is far
 * enough away and no other instance uses the database. Otherwise it looks the session up, because another
 * instance may have ended it.
 */
@Injectable()
export class SessionStore
  implements OnApplicationBootstrap, OnModuleDestroy, BeforeApplicationShutdown
{
  private readonly known = new Map<string, Session>();
  private readonly openings: BatchQueue<NewSession, boolean>;
  private readonly lifetime: ReturnType<typeof lifetimeOf>;
  private isShuttingDown = false;
  /** Whether other instances may use the sessions. */
  private mayBeShared = true;
  private stops: readonly (() => void)[] = [];

  constructor(
    private readonly repository: SessionsRepository,
    private readonly subscriptions: StoredSubscriptions,
    private readonly changes: ChangeBus,
    private readonly instances: Instances,
    private readonly follower: EventFollower,
    settings: Settings,
  ) {
    this.lifetime = lifetimeOf(settings);
    this.openings = new BatchQueue({ concurrency: CONCURRENT_OPENINGS }, async (take) => {
      const sessions = take();
      const opened = await repository.open(sessions);
      return sessions.map(({ id }) => opened.has(id));
    });
  }

  onApplicationBootstrap(): void {
    this.follower.beforeEvents(() => this.refreshNotified());
    const { checkMs } = this.lifetime;
    // Two loops, so that a write that has to wait delays no end of a session.
    this.stops = [
      repeat(REVALIDATION_MS, () => this.revalidate(), 'the open sessions could not be looked up'),
      repeat(checkMs, () => this.postponeDueEnds(), 'the use of sessions could not be stored'),
    ];
  }

  onModuleDestroy(): void {
    for (const stop of this.stops) stop();
  }

  /**
   * Opens a session for the caller's key.
   * @param replacedId the id of a session that ends if it belongs to the key
   * @throws ApiError `too_many_sessions`, `create_failed`
   */
  async open(call: Call, parameters: SessionParameters, replacedId?: string): Promise<Session> {
    const { key } = call.actor;
    const { grant } = key;
    const owner = {
      key_id: key.id,
      grant_id: grant?.id ?? null,
      client_id: grant?.clientId ?? null,
    };
    const record = { id: randomUUID(), ...owner, ...parameters };
    const session = new Session(record, call, this.changes);
    session.storedEnd = session.usedAt + this.lifetime.maxMs;
    const isOpen = await this.openings.add({
      ...record,
      replaced_id: replacedId && UUID.test(replacedId) ? replacedId.toLowerCase() : undefined,
    });
    const replaced = replacedId && this.known.get(replacedId.toLowerCase());
    if (replaced && isOwnedBy(replaced.record, call)) this.end(replaced);
    if (!isOpen) throw tooManySessions();
    this.known.set(session.id, session);
    return session;
  }

  /**
   * Finds a session of the caller's key and postpones its end.
   * @param errorCode that of the error when there is no such session or it has ended
   * @throws ApiError `no_session`, `not_found`, `session_mismatch`, `query_failed`
   */
  async find(
    id: string | undefined,
    call: Call,
    errorCode: NoSession = id === undefined ? 'no_session' : 'not_found',
  ): Promise<Session> {
    if (id === undefined || !UUID.test(id)) throw noSession(errorCode);
    const known = this.known.get(id);
    const now = performance.now();
    if (known && !this.mayBeShared && this.coversUse(known.storedEnd - now)) {
      assertOwner(known.record, call);
      known.usedAt = now;
      return known;
    }
    const session = await this.restore(id.toLowerCase(), call);
    if (!session) throw noSession(errorCode);
    return session;
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

  /** Ends the sessions of an organization that was suspended, so that they do not continue with it. */
  @OnDurableEvent('mcp.suspended-sessions', { types: [ORGANIZATION_UPDATED] })
  async endSuspended({ tenant }: Call, event: RecordedEvent): Promise<void> {
    if (isSuspension(event)) await this.repository.deleteAll(tenant.id, new Date(event.created_at));
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
   * and passes changed scopes to the others. Forgets unused sessions, so that an unused instance sends no statements.
   * @throws ApiError `query_failed`; all sessions stay open
   */
  async revalidate(): Promise<void> {
    this.forgetUnused();
    const sessions = [...this.known.values()];
    const checkForOthers = async () => {
      this.mayBeShared = sessions.length === 0 || (await this.instances.mayShareDatabase());
    };
    await Promise.all([this.refresh(sessions), checkForOthers()]);
  }

  /**
   * Postpones the ends of sessions with streams, and of those whose use could not be stored.
   * @throws ApiError `create_failed`
   */
  async postponeDueEnds(): Promise<void> {
    await this.postponeEnds([...this.known.values()].filter((session) => this.isDue(session)));
  }

  /** Closes all streams, because open streams block the shutdown. Clients reconnect to another instance. */
  beforeApplicationShutdown(): void {
    this.isShuttingDown = true;
    for (const session of this.known.values()) session.closeStream();
  }

  all(): Iterable<Session> {
    return this.known.values();
  }

  /**
   * Applies the changes that other instances have made to the sessions with an open stream or subscriptions. Called before
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
    const valid = await this.repository.find(sessions.map(({ id }) => id));
    const byId = new Map(valid.map((session) => [session.id, session]));
    const now = performance.now();
    for (const { session, changesBefore } of read) {
      const stored = byId.get(session.id);
      const hasEnded = !stored || stored.remaining_ms <= 0;
      if (!stored || (hasEnded && !this.isInUse(session, now))) {
        this.end(session);
        continue;
      }
      session.closeReplacedStream(stored.stream_number);
      session.updateScopes(stored.scopes);
      // Other sessions read their subscriptions with their next request, which also reads missed changes.
      if (this.mayBeShared && session.isNotified) {
        this.subscriptions.replace(session, stored, changesBefore);
      }
      // The clock of the database was set forward, or no use could be stored.
      if (hasEnded) session.storedEnd = now;
    }
  }

  /** Continues a session that another instance may have opened, changed or ended. */
  private async restore(id: string, call: Call): Promise<Session | undefined> {
    const changesBefore = this.known.get(id)?.subscriptionChanges ?? 0;
    const readAt = performance.now();
    const [stored] = await this.repository.find([id]);
    const known = this.known.get(id);
    const isInUse = known !== undefined && this.isInUse(known, readAt);
    if (!stored || !(stored.remaining_ms > 0 || isInUse)) {
      if (known) this.end(known);
      return undefined;
    }
    assertOwner(stored, call);
    const session = known ?? this.createFrom(stored, call);
    session.usedAt = readAt;
    session.storedEnd = readAt + stored.remaining_ms;
    if (!this.coversUse(stored.remaining_ms)) {
      // The database may refuse writes while reads are possible. `postponeDueEnds` tries again.
      const existing = await this.postponeEnds([session]).catch(() => undefined);
      if (existing?.has(id) === false) {
        this.end(session);
        return undefined;
      }
    }
    await this.subscriptions.catchUp(session, stored, call, changesBefore);
    return session;
  }

  /** Whether the end of a session need not be stored anew. One beyond `maxMs` is of another clock or setting. */
  private coversUse(remainingMs: number): boolean {
    return remainingMs >= this.lifetime.minMs && remainingMs <= this.lifetime.maxMs;
  }

  /** Whether the time to live has not passed, as far as this instance knows; an open stream counts as use. */
  private isInUse({ isStreaming, usedAt }: Session, now: number): boolean {
    return isStreaming || usedAt + this.lifetime.minMs > now;
  }

  /** Whether the stored end of a session does not cover its use by this instance. */
  private isDue({ isStreaming, usedAt, storedEnd }: Session): boolean {
    const { minMs, streamMs } = this.lifetime;
    return storedEnd < (isStreaming ? performance.now() + streamMs : usedAt + minMs);
  }

  /**
   * @returns the ids of the sessions that exist
   * @throws ApiError `create_failed`
   */
  private async postponeEnds(sessions: readonly Session[]): Promise<ReadonlySet<string>> {
    if (sessions.length === 0) return new Set();
    const storedEnd = performance.now() + this.lifetime.maxMs;
    const existing = await this.repository.postponeEnds(sessions.map(({ id }) => id));
    for (const session of sessions) session.storedEnd = storedEnd;
    return existing;
  }

  private createFrom(stored: StoredSession, call: Call): Session {
    const streamLostAt = new Date(stored.last_used_at.getTime() - STREAM_LOSS_MS);
    const session = new Session(stored, call, this.changes, stored.age_ms, streamLostAt);
    this.known.set(session.id, session);
    return session;
  }

  private end(session: Session): void {
    this.known.delete(session.id);
    session.terminate();
  }

  /** Removes sessions from memory that have no notifications for their clients. A request restores them. */
  private forgetUnused(): void {
    const usedSince = performance.now() - MAX_UNUSED_MS;
    for (const session of this.known.values()) {
      const isNeeded = session.isNotified || session.usedAt > usedSince || this.isDue(session);
      if (!isNeeded) this.known.delete(session.id);
    }
  }
}

type NoSession = 'no_session' | 'not_found';

export function noSession(errorCode: NoSession): ApiError {
  return new ApiError(errorCode, {
    message: 'There is no such session, or it has ended. Open one by POSTing initialize.',
  });
}

/** The error when as many sessions or streams are open as can be. */
export function tooManySessions(message?: string): ApiError {
  const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
  return new ApiError('too_many_sessions', { message, headers });
}

type Owner = Pick<NewSession, 'key_id' | 'grant_id' | 'client_id'>;

function isOwnedBy({ key_id, grant_id }: Owner, { actor: { key } }: Call): boolean {
  return key_id === key.id && grant_id === (key.grant?.id ?? null);
}

/** @throws ApiError `session_mismatch`; `not_found` if the client of the session has signed in again with the same key */
function assertOwner(session: Owner, call: Call): void {
  if (isOwnedBy(session, call)) return;
  const { id, grant } = call.actor.key;
  const isSameClient = grant !== undefined && grant.clientId === session.client_id;
  if (isSameClient && session.key_id === id) throw noSession('not_found');
  throw new ApiError('session_mismatch');
}
