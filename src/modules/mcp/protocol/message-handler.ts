import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { Settings } from '../../../platform/config/settings.js';
import { ApiError, validationError } from '../../../platform/errors/api-error.js';
import type { FieldProblem } from '../../../platform/errors/field-problem.js';
import {
  RateLimits,
  setRateLimitHeaders,
  tooManyAtOnce,
  tooManyRequests,
  WINDOW_MS,
} from '../../../platform/access/limits/rate-limits.js';
import type { ApiRequest } from '../../../platform/http/request/api-request.js';
import { findUnexpectedParameters, throwIfAny } from '../../../platform/http/request/bind-input.js';
import type { Call } from '../../../platform/data/call.js';
import { SessionStore } from '../sessions/session-store.js';
import { EVENT_STREAM, EventStream } from './event-stream.js';
import { declaredProtocolVersion, SESSION_ID, sessionIdOf, validateHeaders } from './headers.js';
import { McpCall } from '../mcp-call.js';
import { readMessages } from './messages.js';
import { McpMethods, schemaProblemsOf } from './methods.js';
import { agreedParameters, answerRequests, hasSessions } from './session-protocol.js';
import { createHandler, dispatch, isStateless } from './stateless-protocol.js';
import { SubscriptionStreams } from './subscription-streams.js';

/** Maximum number of messages of a key in a window, without its tool calls. */
const MESSAGES_PER_WINDOW = 600;

/** The only protocol version that allows batches. */
const VERSION_WITH_BATCHES = '2025-03-26';

const INITIALIZE_IN_BATCH: FieldProblem = {
  field: 'body',
  message: 'must not be an array if it contains initialize',
};

/** Handles the messages of a POST to /mcp. */
@Injectable()
export class McpMessageHandler {
  constructor(
    private readonly settings: Settings,
    private readonly sessions: SessionStore,
    private readonly methods: McpMethods,
    private readonly streams: SubscriptionStreams,
    private readonly limits: RateLimits,
  ) {
    limits.add({ name: 'messages', ttl: WINDOW_MS, limit: MESSAGES_PER_WINDOW });
  }

  /**
   * Reads the body of a POST and handles its messages. Each message is counted once: a call of a tool or a read of a
   * resource counts itself as a read or a write when it is run. The others count as messages before any is run, as do,
   * at the end, the calls that were refused without being run. A request that is refused as a whole counts as one message.
   * @returns the body of the response; undefined when there is none or it is a stream
   * @throws ApiError `rate_limit_exceeded`, `no_session`, `not_found`, `session_mismatch`, `validation_error`,
   *   `insufficient_scope` for an access token, `too_many_sessions`, `query_failed`, `create_failed`
   */
  async handle(call: Call, request: ApiRequest, response: Response): Promise<unknown> {
    const messages = await readMessages(request, this.settings.bodyLimitBytes);
    const calls = messages.requests.filter((message) => this.methods.isCall(message)).length;
    const others = messages.count - calls;
    await this.countMessages(others, call, response);
    const context = new McpCall(call, request, response, messages);
    let isRefused = true;
    try {
      const answer = await this.answer(context);
      isRefused = response.statusCode >= 400;
      return answer;
    } finally {
      const { countedCalls } = context;
      const missing = isRefused && countedCalls === 0 ? 1 - others : calls - countedCalls;
      const counting = this.countMessages(missing, call, response);
      // What a call has written must be answered.
      await (countedCalls > 0 ? counting.catch(() => undefined) : counting);
    }
  }

  /**
   * Counts messages together: all or none.
   * @param messages how many; a negative number returns messages that were counted
   * @throws ApiError `rate_limit_exceeded` when the key exceeds its limit of messages
   */
  async countMessages(messages: number, call: Call, response: Response): Promise<void> {
    if (messages === 0) return;
    const window = await this.limits.countTogether(messages, 'messages', call.actor);
    if (!window.isBlocked) return;
    setRateLimitHeaders(response, window);
    throw messages > 1
      ? tooManyAtOnce(messages, 'messages', window)
      : tooManyRequests(window, 'messages');
  }

  private async answer(context: McpCall): Promise<unknown> {
    const { call, request, messages } = context;
    const { body, error, isBatch, requests } = messages;
    if (!error && isStateless(body, declaredProtocolVersion(request))) {
      return this.handleStateless(context);
    }
    const [first] = requests;
    // Clients send `initialize` with the id of a session that has ended.
    const opensSession = !isBatch && first?.method === 'initialize';
    const id = opensSession ? undefined : sessionIdOf(request);
    if (id !== undefined) context.session = await this.sessions.find(id, call);
    if (error) throw error;
    validateHeaders(request);
    if (context.session || (first?.method !== 'initialize' && !hasSessions(call))) {
      return this.handleRequests(context);
    }
    if (first?.method !== 'initialize') throw new ApiError('no_session');
    const opening = withCapabilities(first);
    const problems = schemaProblemsOf(opening, 'InitializeRequest');
    if (isBatch) problems.push(INITIALIZE_IN_BATCH);
    if (problems.length > 0) throw validationError(problems);
    return this.initialize(opening, context);
  }

  /** Handles a message of the stateless protocol version. */
  private async handleStateless(context: McpCall): Promise<string | undefined> {
    const { request, response, messages } = context;
    throwIfAny(findUnexpectedParameters(request));
    this.methods.checkScopes(context);
    const { body, isBatch, requests } = messages;
    const [message] = requests;
    const handler = createHandler(context, this.methods);
    const answer =
      message?.method === 'subscriptions/listen' && !isBatch
        ? await this.streams.listen(message, handler, context)
        : await dispatch(handler, body, request);
    const type = answer.headers.get('Content-Type');
    if (type === EVENT_STREAM && answer.body) {
      new EventStream(response).pipe(answer.body).catch(() => response.destroy());
      return undefined;
    }
    response.status(answer.status);
    if (type === null) return undefined;
    response.type(type);
    return answer.text();
  }

  /**
   * Opens a session, except for callers without a key: they continue without a session id. A session of the same key
   * that the request names ends.
   */
  private async initialize(message: JSONRPCRequest, context: McpCall): Promise<unknown> {
    const { call, request, response } = context;
    const [answer] = await answerRequests([message], context, this.methods);
    if (hasSessions(call)) {
      const parameters = agreedParameters(message, answer);
      const session = await this.sessions.open(call, parameters, sessionIdOf(request));
      // A client that has disconnected never learns the id of its session.
      if (response.destroyed) await this.sessions.terminate(session);
      response.setHeader(SESSION_ID, session.id);
    }
    return answer;
  }

  /** Handles the messages of a session, or of a caller without sessions. */
  private async handleRequests(context: McpCall): Promise<unknown> {
    const { request, response, session } = context;
    const { requests, isBatch } = context.messages;
    const version = session?.record.protocol_version ?? declaredProtocolVersion(request);
    if (isBatch && (version ?? VERSION_WITH_BATCHES) !== VERSION_WITH_BATCHES) {
      throw validationError([{ field: 'body', message: 'must be one message, not an array' }]);
    }
    if (requests.some(({ method }) => method === 'initialize')) {
      throw validationError([INITIALIZE_IN_BATCH]);
    }
    if (requests.length === 0) {
      response.status(202);
      return undefined;
    }
    this.methods.checkScopes(context);
    const answers = await answerRequests(requests, context, this.methods);
    return isBatch ? answers : answers[0];
  }
}

/** A client that names no capabilities has none. */
function withCapabilities({ params, ...initialize }: JSONRPCRequest): JSONRPCRequest {
  return { ...initialize, ...(params && { params: { capabilities: {}, ...params } }) };
}
