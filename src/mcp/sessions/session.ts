import type { ChangeBus } from '../../events/change-bus.js';
import type { Actor } from '../../tenancy/actor.js';
import type { ReadResource } from '../resources/resource-registry.js';
import { MAX_SUBSCRIPTIONS, Subscriptions } from '../subscriptions/subscriptions.js';

/** Notifications that a stream which comes back may have missed; more than there are different ones. */
export const MAX_KEPT_EVENTS = 2 * MAX_SUBSCRIPTIONS;

/** A message to the client that answers nothing, with its number in the session. */
export interface SessionEvent {
  readonly id: number;
  readonly message: Notification;
}

interface Notification {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: { readonly uri: string };
}

/** Where a session's events go while the client listens. */
export interface SessionStream {
  /** @returns whether it was taken */
  send(event: SessionEvent): boolean;
  close(): void;
}

/** What is remembered of a session: servers and transports are made for each request. */
export class Session {
  /** Revision of the protocol that client and server agreed on. */
  protocolVersion = '';
  readonly keyId: string;
  private usedAt = performance.now();
  private stream: SessionStream | undefined;
  private events: readonly SessionEvent[] | undefined;
  private lastEventId = 0;
  private readonly subscriptions: Subscriptions;
  /** The last event that was written to a stream. */
  lastSentEventId = 0;

  constructor(
    readonly id: string,
    actor: Actor,
    changes: ChangeBus,
  ) {
    this.keyId = actor.key.id;
    this.subscriptions = new Subscriptions(actor, changes, (uri) => {
      this.notify('notifications/resources/updated', { uri });
    });
  }

  touch(): void {
    this.usedAt = performance.now();
  }

  /**
   * Whether nothing has used it since a time; an open stream is use
   * (docs/contract/mcp.md#session-lifetime).
   */
  isIdleSince(time: number): boolean {
    return this.stream === undefined && this.usedAt <= time;
  }

  /** Keeps a notification for the client, and sends it where the client listens. */
  notify(method: string, params?: Notification['params']): void {
    const message: Notification = { jsonrpc: '2.0', method, ...(params && { params }) };
    const event: SessionEvent = { id: ++this.lastEventId, message };
    this.events = compacted([...(this.events ?? []), event]);
    if (this.stream) this.deliver(this.stream, event);
  }

  /**
   * Tells the client from now on of changes of a record.
   * @returns whether there was room for it
   */
  subscribe(found: ReadResource): boolean {
    return this.subscriptions.add(found);
  }

  /** Tells the client no more of a record, also not of changes that it has missed. */
  unsubscribe(address: string): void {
    this.discardEventsOf([this.subscriptions.remove(address)]);
  }

  /** Tells the client that it may call other tools than before, if so. */
  updateScopes(scopes: readonly string[]): void {
    const { areOthers, lost } = this.subscriptions.updateScopes(scopes);
    if (lost.length > 0) this.discardEventsOf(lost);
    if (areOthers) this.notify('notifications/tools/list_changed');
  }

  /** Whether a stream may go on behind this event. */
  hasEvent(id: number): boolean {
    return id <= this.lastEventId;
  }

  /**
   * Sends everything to this stream from now on, in place of an earlier one.
   * @param after the last event that the client knows
   */
  attachStream(stream: SessionStream, after: number): void {
    this.stream?.close();
    this.stream = stream;
    for (const event of this.events ?? []) if (event.id > after) this.deliver(stream, event);
  }

  /** The stream has ended; another one may have taken its place meanwhile. */
  detachStream(stream: SessionStream): void {
    if (this.stream !== stream) return;
    this.stream = undefined;
    this.touch();
  }

  /** Ends the stream, if one is open. */
  closeStream(): void {
    this.stream?.close();
  }

  /** Ends all that it has. */
  terminate(): void {
    this.subscriptions.end();
    this.closeStream();
  }

  get isStreaming(): boolean {
    return this.stream !== undefined;
  }

  /** Keeps nothing more of these records. */
  private discardEventsOf(uris: readonly (string | undefined)[]): void {
    this.events = this.events?.filter(({ message: { params } }) => {
      return !params || !uris.includes(params.uri);
    });
  }

  private deliver(stream: SessionStream, event: SessionEvent): void {
    if (!stream.send(event)) return;
    this.lastSentEventId = Math.max(this.lastSentEventId, event.id);
  }
}

/** Room for the latest event: the oldest one goes that a later one repeats. */
function compacted(events: readonly SessionEvent[]): readonly SessionEvent[] {
  if (events.length <= MAX_KEPT_EVENTS) return events;
  const repeated = events.findIndex(({ message }, index) => {
    return events.some((later, at) => at > index && isSame(later.message, message));
  });
  return events.filter((_, index) => index !== Math.max(repeated, 0));
}

function isSame(one: Notification, other: Notification): boolean {
  return one.method === other.method && one.params?.uri === other.params?.uri;
}
