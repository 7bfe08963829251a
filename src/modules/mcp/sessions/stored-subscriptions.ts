import { Injectable } from '@nestjs/common';
import type { Call } from '../../../platform/data/call.js';
import { type ResourceReference, ResourceRegistry } from '../resources/resource-registry.js';
import type { Session } from './session.js';
import { SessionsRepository, type StoredSession } from './sessions.repository.js';

/**
 * Stores the subscriptions of sessions, and copies those that other instances have stored.
 *
 * A request changes the session in memory first, and then the database. What was read from the database meanwhile lacks
 * the change, and must not replace what the session has. So each change is counted at its start and at its end, and
 * stored subscriptions are used only if no change was counted since before they were read.
 */
@Injectable()
export class StoredSubscriptions {
  constructor(
    private readonly repository: SessionsRepository,
    private readonly resources: ResourceRegistry,
  ) {}

  /**
   * Subscribes a session to a record.
   * @returns false when the limit of subscriptions is reached
   * @throws ApiError `create_failed`
   */
  add(session: Session, resource: ResourceReference): Promise<boolean> {
    return change(session, async () => {
      if (!session.subscriptions.add(resource)) return false;
      await this.repository.storeSubscription(session.id, resource.uri, true);
      return true;
    });
  }

  /** @throws ApiError `create_failed` */
  remove(session: Session, canonicalUri: string): Promise<void> {
    return change(session, async () => {
      session.subscriptions.remove(canonicalUri);
      await this.repository.storeSubscription(session.id, canonicalUri, false);
    });
  }

  /**
   * Replaces the subscriptions of a session by the stored ones.
   * @param changesBefore `subscriptionChanges` of the session before they were read
   * @returns the added ones; undefined if the stored ones may lack a change by this instance
   */
  replace(
    session: Session,
    { subscriptions, scopes }: StoredSession,
    changesBefore: number,
  ): ResourceReference[] | undefined {
    if (session.subscriptionChanges !== changesBefore) return undefined;
    const references = subscriptions.flatMap((uri) => this.resources.referenceOf(uri) ?? []);
    const readable = references.filter(({ kind }) => scopes.includes(kind.scope));
    return session.subscriptions.replace(readable);
  }

  /**
   * Replaces the subscriptions before a request of the session, and notifies it of the changes of added records
   * and lists since they were last read.
   * @throws ApiError `query_failed`
   */
  async catchUp(
    session: Session,
    stored: StoredSession,
    call: Call,
    changesBefore: number,
  ): Promise<void> {
    const openedAt = new Date(stored.read_at.getTime() - stored.age_ms);
    const since = session.subscriptionsReadAt ?? openedAt;
    const added = this.replace(session, stored, changesBefore);
    if (!added) return;
    session.subscriptionsReadAt = stored.read_at;
    if (added.length === 0) return;
    const changed = await this.resources.changedSince(call, since, added);
    for (const { uri } of changed) session.notifyUpdated(uri);
  }
}

/** Changes the subscriptions of a session and the stored ones. */
async function change<T>(session: Session, work: () => Promise<T>): Promise<T> {
  session.subscriptionChanges++;
  try {
    return await work();
  } finally {
    session.subscriptionChanges++;
  }
}
