import type { McpHttpHandler } from '@modelcontextprotocol/server';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { ApiError } from '../../errors/api-error.js';
import { Changes } from '../../events/changes.js';
import type { Actor } from '../../tenancy/actor.js';
import { Subscriptions } from './subscriptions.js';

/** More than an agent has use for: one stream can tell of everything. */
export const MOST_OF_A_KEY = 100;

/** Places fall free whenever a client leaves, so there is no time to tell. */
const RETRY_AFTER_SECONDS = 30;

/** The SDK's side of a stream: what it is told of, and its end. */
type Feed = Pick<McpHttpHandler, 'notify' | 'close'>;

/** A client without a session that is told of changes as long as its request is open. */
export class Listener {
  readonly keyId: string;
  readonly subscriptions: Subscriptions;

  constructor(
    actor: Actor,
    changes: Changes,
    private readonly feed: Feed,
  ) {
    this.keyId = actor.key.id;
    this.subscriptions = new Subscriptions(actor, changes, (uri) => {
      feed.notify.resourceUpdated(uri);
    });
  }

  /** Tells the client that it may call other tools than before, if so. */
  followScopes(scopes: readonly string[]): void {
    if (this.subscriptions.followScopes(scopes).areOthers) this.feed.notify.toolsChanged();
  }

  /** Tells the client that this was all. */
  end(): void {
    this.subscriptions.end();
    void this.feed.close();
  }
}

/** Those who listen without a session: as many as there may be sessions. */
@Injectable()
export class Listeners implements BeforeApplicationShutdown {
  private readonly listeners = new Set<Listener>();
  private isClosing = false;

  constructor(
    private readonly settings: Settings,
    private readonly changes: Changes,
  ) {}

  /**
   * Takes a place for a stream of the caller's key.
   * @throws ApiError `too_many_sessions`
   */
  open(actor: Actor, feed: Feed): Listener {
    const ofKey = [...this.listeners].filter(({ keyId }) => keyId === actor.key.id).length;
    const isFull = this.listeners.size >= this.settings.mcpMaxSessions || ofKey >= MOST_OF_A_KEY;
    if (isFull || this.isClosing) {
      throw new ApiError('too_many_sessions', {
        message: 'All places for those who listen are taken.',
        headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
      });
    }
    const listener = new Listener(actor, this.changes, feed);
    this.listeners.add(listener);
    return listener;
  }

  has(listener: Listener): boolean {
    return this.listeners.has(listener);
  }

  /** Ends a stream and frees its place. */
  end(listener: Listener): void {
    if (this.listeners.delete(listener)) listener.end();
  }

  /** Streams would keep the server from going; their clients come back to another one. */
  beforeApplicationShutdown(): void {
    this.isClosing = true;
    for (const listener of this.listeners) this.end(listener);
  }

  all(): Iterable<Listener> {
    return this.listeners;
  }
}
