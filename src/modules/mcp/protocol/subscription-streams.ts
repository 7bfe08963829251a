import type {
  JSONRPCRequest,
  McpHttpHandler,
  SubscriptionFilter,
} from '@modelcontextprotocol/server';
import { finished } from 'node:stream';
import { type BeforeApplicationShutdown, Injectable } from '@nestjs/common';
import { KeyRevalidation, type OpenResponse } from '../../../platform/access/key-revalidation.js';
import { logger } from '../../../platform/config/logger.js';
import { Settings } from '../../../platform/config/settings.js';
import { ChangeBus } from '../../../platform/data/gateway/change-bus.js';
import type { Call } from '../../../platform/data/call.js';
import { validationError } from '../../../platform/errors/api-error.js';
import { toLoggedApiError } from '../../../platform/http/error.filter.js';
import { canonicalUriOf, ResourceRegistry } from '../resources/resource-registry.js';
import { tooManySessions } from '../sessions/session-store.js';
import { MAX_SUBSCRIPTIONS, Subscriptions } from '../sessions/subscriptions.js';
import type { McpCall } from '../mcp-call.js';
import { schemaProblemsOf } from './methods.js';
import { dispatch } from './stateless-protocol.js';

/** More than an agent needs, because one stream can report every subscription. */
export const MAX_STREAMS_PER_KEY = 100;

/** Errors that concern a single record, which is then left out of the subscriptions. */
const SKIPPED_STATUSES: readonly number[] = [403, 404];

/** An open response to `subscriptions/listen`, which sends notifications to a client without a session. */
interface SubscriptionStream extends OpenResponse {
  readonly subscriptions: Subscriptions;
}

/** The open streams of clients without a session. Their limit equals the limit of sessions. */
@Injectable()
export class SubscriptionStreams implements BeforeApplicationShutdown {
  readonly streams = new Set<SubscriptionStream>();
  private isShuttingDown = false;

  constructor(
    private readonly settings: Settings,
    private readonly changes: ChangeBus,
    private readonly keys: KeyRevalidation,
    private readonly resources: ResourceRegistry,
  ) {}

  /**
   * Answers `subscriptions/listen` with a stream, which ends when its client, its key or the instance does. Skips
   * records that do not exist or that the caller may not read.
   * @returns the stream, whose first event names the subscribed records
   * @throws ApiError `unauthorized`, `too_many_sessions`, `validation_error`, and other errors of reading a record
   */
  async listen(
    message: JSONRPCRequest,
    handler: McpHttpHandler,
    context: McpCall,
  ): Promise<Response> {
    const { call, request, response } = context;
    // The SDK answers an invalid message with the error of the protocol.
    if (schemaProblemsOf(message, 'SubscriptionsListenRequest').length > 0) {
      return dispatch(handler, message, request);
    }
    const { notifications } = message.params as { notifications: SubscriptionFilter };
    const uris = deduplicate(notifications.resourceSubscriptions ?? []);
    const stream = this.open(call, handler);
    // Calls back for a response, too, that was closed before.
    finished(response, () => {
      stream.end();
    });
    try {
      await this.keys.assertActive(call.actor);
      for (const uri of uris) await this.subscribe(stream.subscriptions, uri, context);
      // The client, the key or the instance has ended it meanwhile. A retry finds out which.
      if (!this.streams.has(stream)) throw tooManySessions('The subscription stream has ended.');
      const honored = { ...notifications, resourceSubscriptions: stream.subscriptions.uris };
      const params = { ...message.params, notifications: honored };
      return await dispatch(handler, { ...message, params }, request);
    } catch (error) {
      stream.end();
      throw error;
    }
  }

  /** Closes all streams, because open streams block the shutdown. Clients reconnect to another instance. */
  beforeApplicationShutdown(): void {
    this.isShuttingDown = true;
    for (const stream of this.streams) stream.end();
  }

  /** @throws ApiError `too_many_sessions` */
  private open(call: Call, handler: McpHttpHandler): SubscriptionStream {
    const { key } = call.actor;
    const ofKey = [...this.streams].filter((stream) => stream.key.id === key.id).length;
    const isFull =
      this.streams.size >= this.settings.mcpMaxSessions || ofKey >= MAX_STREAMS_PER_KEY;
    if (isFull || this.isShuttingDown) {
      throw tooManySessions('The limit of open subscription streams is reached.');
    }
    const subscriptions = new Subscriptions(call, this.changes, (uri) => {
      handler.notify.resourceUpdated(uri);
    });
    const stream: SubscriptionStream = {
      key,
      tenant: call.tenant,
      subscriptions,
      updateScopes: (scopes) => {
        if (subscriptions.updateScopes(scopes)) handler.notify.toolsChanged();
      },
      end: () => {
        if (!this.streams.delete(stream)) return;
        stopWatching();
        subscriptions.end();
        handler.close().catch((error: unknown) => {
          logger.error({ err: error }, 'a subscription stream could not be closed');
        });
      },
    };
    const stopWatching = this.keys.watch(stream);
    this.streams.add(stream);
    return stream;
  }

  private async subscribe(subscriptions: Subscriptions, uri: string, context: McpCall) {
    try {
      subscriptions.add(await this.resources.read(uri, context));
    } catch (thrown) {
      const error = toLoggedApiError(thrown, context.request.state.requestId, '/mcp');
      if (!SKIPPED_STATUSES.includes(error.status)) throw error;
    }
  }
}

/** Removes URIs that name the same record. */
function deduplicate(uris: readonly string[]): string[] {
  const byCanonicalUri = new Map(uris.map((uri) => [canonicalUriOf(uri), uri]));
  if (byCanonicalUri.size <= MAX_SUBSCRIPTIONS) return [...byCanonicalUri.values()];
  const field = 'params.notifications.resourceSubscriptions';
  throw validationError([{ field, message: `must name at most ${MAX_SUBSCRIPTIONS} records` }]);
}
