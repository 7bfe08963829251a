import type { Actor } from '../tenancy/actor.js';

/** Notifications that a stream which comes back may have missed. */
const KEPT_EVENTS = 100;

/** A message to the client that answers nothing, with its number in the session. */
export interface SessionEvent {
  readonly id: number;
  readonly message: { readonly jsonrpc: '2.0'; readonly method: string; readonly params?: object };
}

/** Where a session's events go while the client listens. */
export interface SessionStream {
  send(event: SessionEvent): void;
  close(): void;
}

/** What is remembered of a session: servers and transports are made for each request. */
export class Session {
  /** Revision of the protocol that client and server agreed on. */
  revision = '';
  private scopes: string;
  private usedAt = performance.now();
  private stream: SessionStream | undefined;
  private events: SessionEvent[] | undefined;
  private lastEventId = 0;
  /** The last event that was written to a stream. */
  sentUpTo = 0;

  constructor(
    readonly id: string,
    readonly keyId: string,
    { scopes }: Pick<Actor, 'scopes'>,
  ) {
    this.scopes = [...scopes].sort().join();
  }

  use(): void {
    this.usedAt = performance.now();
  }

  /** Whether nothing has used it for so long; an open stream is use (decisions 6). */
  isIdleSince(time: number): boolean {
    return this.stream === undefined && this.usedAt <= time;
  }

  /** Keeps a notification for the client, and sends it where the client listens. */
  notify(method: string): void {
    const event: SessionEvent = { id: ++this.lastEventId, message: { jsonrpc: '2.0', method } };
    this.events = [...(this.events ?? []), event].slice(-KEPT_EVENTS);
    if (this.stream) this.deliver(this.stream, event);
  }

  /** Tells the client that it may call other tools than before, if so. */
  followScopes(scopes: readonly string[]): void {
    const now = [...scopes].sort().join();
    if (now === this.scopes) return;
    this.scopes = now;
    this.notify('notifications/tools/list_changed');
  }

  /** Whether a stream may go on behind this event. */
  hasEvent(id: number): boolean {
    return id <= this.lastEventId;
  }

  /**
   * Sends everything to this stream from now on, in place of an earlier one.
   * @param after the last event that the client knows
   */
  attach(stream: SessionStream, after: number): void {
    this.stream?.close();
    this.stream = stream;
    for (const event of this.events ?? []) if (event.id > after) this.deliver(stream, event);
  }

  /** The stream has ended; another one may have taken its place meanwhile. */
  detach(stream: SessionStream): void {
    if (this.stream !== stream) return;
    this.stream = undefined;
    this.use();
  }

  /** Ends the stream, if one is open. */
  close(): void {
    this.stream?.close();
  }

  get isStreaming(): boolean {
    return this.stream !== undefined;
  }

  private deliver(stream: SessionStream, event: SessionEvent): void {
    stream.send(event);
    this.sentUpTo = Math.max(this.sentUpTo, event.id);
  }
}
