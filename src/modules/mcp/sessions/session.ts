import type { JSONRPCNotification } from '@modelcontextprotocol/server';
import type { ChangeBus } from '../../../platform/data/gateway/change-bus.js';
import type { Call } from '../../../platform/data/call.js';
import { MAX_SUBSCRIPTIONS, Subscriptions } from './subscriptions.js';

/** The number of events kept for resumed streams. More than there are distinct notifications. */
export const MAX_KEPT_EVENTS = 2 * MAX_SUBSCRIPTIONS;

/** A notification with its event id, which is sequential within the session. */
export interface SessionEvent {
  readonly id: number;
  readonly message: JSONRPCNotification;
}

/** The open connection over which a session sends its events. */
export interface SessionStream {
  /** @returns whether the event was written */
  send(event: SessionEvent): boolean;
  close(): void;
}

/** What a client and the server agreed on when they opened the session. */
export interface SessionParameters {
  /** The negotiated protocol version. */
  readonly protocol_version: string;
  /** The name that the client gave itself. */
  readonly client_name: string;
}

/** What is stored about a session and never changes. */
export interface SessionRecord extends SessionParameters {
  readonly id: string;
  readonly key_id: string;
  /** The grant that the session belongs to, if its client has an access token. */
  readonly grant_id: string | null;
  /** The client of this grant. */
  readonly client_id: string | null;
}

/** The state of a session on this instance. Servers and transports are created per request. */
export class Session {
  readonly id: string;
  lastSentEventId: number;
  /**
   * Grows when a request to this instance begins to change the stored subscriptions, and when it has ended. Stored
   * subscriptions that were read while it grew may lack the change (`StoredSubscriptions`).
   */
  subscriptionChanges = 0;
  /** When this instance last served a request of the session, on the clock of `performance.now()`. */
  usedAt = performance.now();
  /** When the session ends by the database, as far as this instance knows, on the same clock. */
  storedEnd = 0;
  private stream: SessionStream | undefined;
  /** The number of the latest stream. All streams of a session are numbered, on any instance. */
  private streamNumber = 0;
  private events: readonly SessionEvent[] = [];
  /** The id of the last event of this instance. */
  lastEventId: number;
  /** The subscribed records. The end of a subscription removes its events from those that are kept. */
  readonly subscriptions: Subscriptions;

  /**
   * @param ageMs age of a session that another instance opened; 0 for a new one. Event ids begin at this number, so
   *   that they are higher than those of the other instance, which cannot have sent an event each millisecond.
   * @param subscriptionsReadAt when the stored subscriptions were read, by the clock of the database
   */
  constructor(
    readonly record: SessionRecord,
    call: Call,
    changes: ChangeBus,
    ageMs = 0,
    public subscriptionsReadAt?: Date,
  ) {
    this.id = record.id;
    this.lastEventId = this.lastSentEventId = Math.ceil(ageMs);
    this.subscriptions = new Subscriptions(call, changes, this.notifyUpdated, (uri) => {
      this.events = this.events.filter(({ message: { params } }) => params?.uri !== uri);
    });
  }

  /** Whether the session has a stream, subscriptions, or events for a later stream. */
  get isNotified(): boolean {
    return this.isStreaming || this.subscriptions.uris.length > 0 || this.events.length > 0;
  }

  get isStreaming(): boolean {
    return this.stream !== undefined;
  }

  /** Stores a notification for resumed streams, and sends it if a stream is open. */
  notify(method: string, params?: { readonly uri: string }): void {
    const message: JSONRPCNotification = { jsonrpc: '2.0', method, ...(params && { params }) };
    const event: SessionEvent = { id: ++this.lastEventId, message };
    this.events = compacted([...this.events, event]);
    if (this.stream) this.deliver(this.stream, event);
  }

  /** Notifies the client of a change of a record or list. */
  readonly notifyUpdated = (uri: string): void => {
    this.notify('notifications/resources/updated', { uri });
  };

  /** Ends subscriptions that the new scopes do not allow, and notifies the client of its new tool list. */
  updateScopes(scopes: readonly string[]): void {
    if (this.subscriptions.updateScopes(scopes)) this.notify('notifications/tools/list_changed');
  }

  /**
   * Sends stored and later events to `stream`. If there is a stream already, closes the one with the lower number.
   * @param number the number of the stream in its session
   * @param lastReceivedId the id of the last event that the client has received
   */
  attachStream(stream: SessionStream, number: number, lastReceivedId: number): void {
    if (this.stream && number < this.streamNumber) {
      stream.close();
      return;
    }
    this.stream?.close();
    this.stream = stream;
    this.streamNumber = number;
    // The id of an event of another instance does not show which events of this instance are missing.
    const isOwn = lastReceivedId <= this.lastEventId;
    const after = isOwn ? lastReceivedId : this.lastSentEventId;
    if (!isOwn) this.lastEventId = lastReceivedId;
    for (const event of this.events) if (event.id > after) this.deliver(stream, event);
  }

  /** Releases a stream that has ended, unless a newer stream has replaced it. */
  detachStream(stream: SessionStream): void {
    if (this.stream === stream) this.stream = undefined;
  }

  /** Closes the stream if a newer stream has been opened, here or on another instance. */
  closeReplacedStream(newestNumber: number): void {
    if (newestNumber > this.streamNumber) this.closeStream();
  }

  closeStream(): void {
    this.stream?.close();
  }

  terminate(): void {
    this.subscriptions.end();
    this.closeStream();
  }

  private deliver(stream: SessionStream, event: SessionEvent): void {
    if (!stream.send(event)) return;
    this.lastSentEventId = Math.max(this.lastSentEventId, event.id);
  }
}

/** Removes one event when there are too many: the oldest one whose record has a later event. */
function compacted(events: readonly SessionEvent[]): readonly SessionEvent[] {
  if (events.length <= MAX_KEPT_EVENTS) return events;
  const duplicate = events.findIndex(({ message }, index) => {
    return events.some((later, at) => at > index && isSame(later.message, message));
  });
  return events.filter((_, index) => index !== Math.max(duplicate, 0));
}

function isSame(one: JSONRPCNotification, other: JSONRPCNotification): boolean {
  return one.method === other.method && one.params?.uri === other.params?.uri;
}
