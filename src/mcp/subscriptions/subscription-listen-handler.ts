import type { ServerResponse } from 'node:http';
import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import { ApiError, validationError } from '../../errors/api-error.js';
import { toLoggedApiError } from '../../http/error.filter.js';
import type { ApiRequest } from '../../http/request/api-request.js';
import type { Actor } from '../../tenancy/actor.js';
import { MCP_ROUTE } from '../protocol/headers.js';
import { SessionRevalidation } from '../sessions/session-revalidation.js';
import { type SubscriptionStream, SubscriptionStreams } from './subscription-streams.js';
import { schemaProblemsOf } from '../protocol/methods.js';
import { canonicalUriOf, type ReadResource } from '../resources/resource-registry.js';
import { dispatch, createListenHandler } from '../protocol/stateless-protocol.js';
import { MAX_SUBSCRIPTIONS } from './subscriptions.js';

const SUBSCRIPTIONS = 'params.notifications.resourceSubscriptions';

/** What a client asks to be told of. */
interface Filter {
  readonly resourceSubscriptions?: readonly string[];
}

interface Caller {
  readonly actor: Actor;
  readonly request: ApiRequest;
  readonly response: ServerResponse;
}

/** Statuses of errors that say of one record that the caller cannot be told of it. */
const OUT_OF_REACH: readonly number[] = [403, 404];

/** Answers `subscriptions/listen` by a stream, which ends with its client, its key or the instance. */
@Injectable()
export class SubscriptionListenHandler {
  constructor(
    private readonly listeners: SubscriptionStreams,
    private readonly keys: SessionRevalidation,
  ) {}

  /**
   * @param find finds a record for the caller
   * @throws ApiError `unauthorized`, `too_many_sessions`, `validation_error`, and what `find` throws but for records
   *   that are not there or not the caller's to read: the answer begins with those that are
   */
  async handle(
    message: JSONRPCRequest,
    { actor, request, response }: Caller,
    find: (uri: string) => Promise<ReadResource>,
  ): Promise<Response> {
    const headerOf = (name: string) => request.get(name);
    const feed = createListenHandler();
    // The SDK has the words for it.
    if (schemaProblemsOf(message, 'SubscriptionsListenRequest').length > 0) {
      return dispatch(feed, message, headerOf);
    }
    const { notifications } = message.params as { notifications: Filter };
    const uris = distinct(notifications.resourceSubscriptions ?? []);
    const listener = this.listeners.open(actor, feed);
    const end = () => {
      this.listeners.close(listener);
    };
    response.once('close', end);
    try {
      await this.keys.assertActive(actor);
      await subscribe(listener, uris, find, request.state.requestId);
      if (!this.listeners.has(listener)) throw new ApiError('too_many_sessions');
      const honored = { ...notifications, resourceSubscriptions: listener.subscriptions.uris };
      const params = { ...message.params, notifications: honored };
      return await dispatch(feed, { ...message, params }, headerOf);
    } catch (error) {
      end();
      throw error;
    }
  }
}

/** Each record once, however it is written. */
function distinct(uris: readonly string[]): string[] {
  const byAddress = new Map(uris.map((uri) => [canonicalUriOf(uri), uri]));
  if (byAddress.size <= MAX_SUBSCRIPTIONS) return [...byAddress.values()];
  const message = `must name at most ${MAX_SUBSCRIPTIONS} records`;
  throw validationError([{ field: SUBSCRIPTIONS, message }]);
}

async function subscribe(
  { subscriptions }: SubscriptionStream,
  uris: readonly string[],
  find: (uri: string) => Promise<ReadResource>,
  requestId: string,
): Promise<void> {
  for (const uri of uris) {
    try {
      subscriptions.add(await find(uri));
    } catch (thrown) {
      const error = toLoggedApiError(thrown, requestId, MCP_ROUTE);
      if (!OUT_OF_REACH.includes(error.status)) throw error;
    }
  }
}
