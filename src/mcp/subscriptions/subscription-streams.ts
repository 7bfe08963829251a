import type { McpHttpHandler } from '@modelcontextprotocol/server';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { ApiError } from '../../errors/api-error.js';
import { ChangeBus } from '../../events/change-bus.js';
import type { Actor } from '../../tenancy/actor.js';
import { Subscriptions } from './subscriptions.js';

/** More than an agent has use for: one stream can tell of everything. */
export const MAX_STREAMS_PER_KEY = 100;

/** Places fall free whenever a client leaves, so there is no time to tell. */
const RETRY_AFTER_SECONDS = 30;

/** The SDK's side of a stream: what it is told of, and its end. */
type StreamHandler = Pick<McpHttpHandler, 'notify' | 'close'>;

/** A client without a session that is told of changes as long as its request is open. */
export class SubscriptionStream {
  readonly keyId: string;
  readonly subscriptions: Subscriptions;

  constructor(
    actor: Actor,
    changes: ChangeBus,
    private readonly feed: StreamHandler,
  ) {
    this.keyId = actor.key.id;
    this.subscriptions = new Subscriptions(actor, changes, (uri) => {
      feed.notify.resourceUpdated(uri);
    });
  }

  /** Tells the client that it may call other tools than before, if so. */
  updateScopes(scopes: readonly string[]): void {
    if (this.subscriptions.updateScopes(scopes).areOthers) this.feed.notify.toolsChanged();
  }

  /** Tells the client that this was all. */
  close(): void {
    this.subscriptions.end();
    void this.feed.close();
  }
}

/** Those who listen without a session: as many as there may be sessions. */
@Injectable()
export class SubscriptionStreams implements BeforeApplicationShutdown {
  private readonly streams = new Set<SubscriptionStream>();
  private isClosing = false;

  constructor(
    private readonly settings: Settings,
    private readonly changes: ChangeBus,
  ) {}

  /**
   * Takes a place for a stream of the caller's key.
   * @throws ApiError `too_many_sessions`
   */
  open(actor: Actor, feed: StreamHandler): SubscriptionStream {
    const ofKey = [...this.streams].filter(({ keyId }) => keyId === actor.key.id).length;
    const isFull =
      this.streams.size >= this.settings.mcpMaxSessions || ofKey >= MAX_STREAMS_PER_KEY;
    if (isFull || this.isClosing) {
      throw new ApiError('too_many_sessions', {
        message: 'All places for those who listen are taken.',
        headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
      });
    }
    const listener = new SubscriptionStream(actor, this.changes, feed);
    this.streams.add(listener);
    return listener;
  }

  has(listener: SubscriptionStream): boolean {
    return this.streams.has(listener);
  }

  /** Ends a stream and frees its place. */
  close(listener: SubscriptionStream): void {
    if (this.streams.delete(listener)) listener.close();
  }

  /** Streams would keep the server from going; their clients come back to another one. */
  beforeApplicationShutdown(): void {
    this.isClosing = true;
    for (const listener of this.streams) this.close(listener);
  }

  all(): Iterable<SubscriptionStream> {
    return this.streams;
  }
}
