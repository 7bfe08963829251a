import type { ServerResponse } from 'node:http';
import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import { KeyRevalidation } from '../../../platform/access/key-revalidation.js';
import { ApiError, validationError } from '../../../platform/errors/api-error.js';
import type { ApiRequest } from '../../../platform/http/request/api-request.js';
import type { Call } from '../../../platform/data/call.js';
import { toLoggedMcpError } from '../mcp-error.js';
import { type SubscriptionStream, SubscriptionStreams } from '../sessions/subscription-streams.js';
import { schemaProblemsOf } from './methods.js';
import { canonicalUriOf, type ReadResource } from '../resources/resource-registry.js';
import { dispatch, createListenHandler } from './stateless-protocol.js';
import { MAX_SUBSCRIPTIONS } from '../sessions/subscriptions.js';

const SUBSCRIPTIONS = 'params.notifications.resourceSubscriptions';

/** The notifications that a client asks for. */
interface Filter {
  readonly resourceSubscriptions?: readonly string[];
}

interface Caller {
  readonly call: Call;
  readonly request: ApiRequest;
  readonly response: ServerResponse;
}

/** Errors that concern a single record, which is then left out of the subscriptions. */
const SKIPPED_STATUSES: readonly number[] = [403, 404];

/** Answers `subscriptions/listen` with a stream, which ends when its client, its key or the instance does. */
@Injectable()
export class SubscriptionListenHandler {
  constructor(
    private readonly streams: SubscriptionStreams,
    private readonly keys: KeyRevalidation,
  ) {}

  /**
   * Subscribes to the requested records. Skips records that do not exist or that the caller may not read.
   * @param read reads a record for the caller
   * @returns the stream, whose first event names the subscribed records
   * @throws ApiError `unauthorized`, `too_many_sessions`, `validation_error`, and other errors of `read`
   */
  async handle(
    message: JSONRPCRequest,
    { call, request, response }: Caller,
    read: (uri: string) => Promise<ReadResource>,
  ): Promise<Response> {
    const headerOf = (name: string) => request.get(name);
    const handler = createListenHandler();
    // The SDK answers an invalid message with the error of the protocol.
    if (schemaProblemsOf(message, 'SubscriptionsListenRequest').length > 0) {
      return dispatch(handler, message, headerOf);
    }
    const { notifications } = message.params as { notifications: Filter };
    const uris = deduplicate(notifications.resourceSubscriptions ?? []);
    const stream = this.streams.open(call, handler);
    response.once('close', stream.end);
    try {
      await this.keys.assertActive(call.actor);
      await subscribe(stream, uris, read, request.state.requestId);
      if (!this.streams.has(stream)) throw new ApiError('too_many_sessions');
      const honored = { ...notifications, resourceSubscriptions: stream.subscriptions.uris };
      const params = { ...message.params, notifications: honored };
      return await dispatch(handler, { ...message, params }, headerOf);
    } catch (error) {
      stream.end();
      throw error;
    }
  }
}

/** Removes URIs that name the same record. */
function deduplicate(uris: readonly string[]): string[] {
  const byCanonicalUri = new Map(uris.map((uri) => [canonicalUriOf(uri), uri]));
  if (byCanonicalUri.size <= MAX_SUBSCRIPTIONS) return [...byCanonicalUri.values()];
  const message = `must name at most ${MAX_SUBSCRIPTIONS} records`;
  throw validationError([{ field: SUBSCRIPTIONS, message }]);
}

async function subscribe(
  { subscriptions }: SubscriptionStream,
  uris: readonly string[],
  read: (uri: string) => Promise<ReadResource>,
  requestId: string,
): Promise<void> {
  for (const uri of uris) {
    try {
      subscriptions.add(await read(uri));
    } catch (thrown) {
      const error = toLoggedMcpError(thrown, requestId);
      if (!SKIPPED_STATUSES.includes(error.status)) throw error;
    }
  }
}
