import type { McpHttpHandler } from '@modelcontextprotocol/server';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { KeyRevalidation, type OpenResponse } from '../../../platform/access/key-revalidation.js';
import { Settings } from '../../../platform/config/settings.js';
import { ApiError } from '../../../platform/errors/api-error.js';
import { ChangeBus } from '../../../platform/data/gateway/change-bus.js';
import type { Actor, Call } from '../../../platform/data/call.js';
import { Subscriptions } from './subscriptions.js';

/** More than an agent needs, because one stream can report every subscription. */
export const MAX_STREAMS_PER_KEY = 100;

/** An estimate: a stream can end at any time. */
const RETRY_AFTER_SECONDS = 30;

/** The part of the SDK handler that sends notifications and ends the stream. */
type StreamHandler = Pick<McpHttpHandler, 'notify' | 'close'>;

/** An open response to `subscriptions/listen`, which sends notifications to a client without a session. */
export class SubscriptionStream implements OpenResponse {
  readonly key: Actor['key'];
  readonly subscriptions: Subscriptions;

  /** @param end closes the stream */
  constructor(
    call: Call,
    changes: ChangeBus,
    private readonly handler: StreamHandler,
    readonly end: () => void,
  ) {
    this.key = call.actor.key;
    this.subscriptions = new Subscriptions(call, changes, (uri) => {
      handler.notify.resourceUpdated(uri);
    });
  }

  /** Ends subscriptions that the new scopes do not allow, and notifies the client of its new tool list. */
  updateScopes(scopes: readonly string[]): void {
    if (this.subscriptions.updateScopes(scopes).changed) this.handler.notify.toolsChanged();
  }

  close(): void {
    this.subscriptions.end();
    void this.handler.close();
  }
}

/** The open streams of clients without a session. Their limit equals the limit of sessions. */
@Injectable()
export class SubscriptionStreams implements BeforeApplicationShutdown {
  /** Each with the function that ends the watch of its key. */
  private readonly streams = new Map<SubscriptionStream, () => void>();
  private isShuttingDown = false;

  constructor(
    private readonly settings: Settings,
    private readonly changes: ChangeBus,
    private readonly keys: KeyRevalidation,
  ) {}

  /**
   * Registers a stream of the caller's key.
   * @throws ApiError `too_many_sessions`
   */
  open(call: Call, handler: StreamHandler): SubscriptionStream {
    const ofKey = [...this.streams.keys()].filter(({ key }) => key.id === call.actor.key.id).length;
    const isFull =
      this.streams.size >= this.settings.mcpMaxSessions || ofKey >= MAX_STREAMS_PER_KEY;
    if (isFull || this.isShuttingDown) {
      throw new ApiError('too_many_sessions', {
        message: 'The limit of open subscription streams is reached.',
        headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
      });
    }
    const stream = new SubscriptionStream(call, this.changes, handler, () => {
      this.close(stream);
    });
    this.streams.set(stream, this.keys.watch(stream));
    return stream;
  }

  has(stream: SubscriptionStream): boolean {
    return this.streams.has(stream);
  }

  close(stream: SubscriptionStream): void {
    this.streams.get(stream)?.();
    if (this.streams.delete(stream)) stream.close();
  }

  /** Closes all streams, because open streams block the shutdown. Clients reconnect to another instance. */
  beforeApplicationShutdown(): void {
    this.isShuttingDown = true;
    for (const stream of this.streams.keys()) this.close(stream);
  }

  all(): Iterable<SubscriptionStream> {
    return this.streams.keys();
  }
}
