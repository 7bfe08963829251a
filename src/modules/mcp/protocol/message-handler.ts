import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { logger } from '../../../platform/config/logger.js';
import { Settings } from '../../../platform/config/settings.js';
import { ApiError, validationError } from '../../../platform/errors/api-error.js';
import type { FieldProblem } from '../../../platform/errors/field-problem.js';
import { readJsonBytes } from '../../../platform/http/request/request-reader.js';
import {
  RateLimits,
  setRateLimitHeaders,
  tooManyRequests,
} from '../../../platform/access/limits/rate-limits.js';
import type { ApiRequest } from '../../../platform/http/request/api-request.js';
import type { Call } from '../../../platform/data/call.js';
import { EVENT_STREAM, EventStream } from './event-stream.js';
import {
  declaredProtocolVersion,
  rejectQueryParameters,
  SESSION_ID,
  sessionIdOf,
} from './headers.js';
import { ScopeChallenge } from './scope-challenge.js';
import { SubscriptionListenHandler } from './subscription-listen-handler.js';
import { type Messages, parseMessages } from './messages.js';
import { schemaProblemsOf } from './methods.js';
import type { Session } from '../sessions/session.js';
import { type McpRequestContext, McpServices } from './mcp-call.js';
import { clientNameOf, negotiatedVersion, handleRequests } from './session-protocol.js';
import { SessionStore } from '../sessions/session-store.js';
import { handleMessage, isListenRequest } from './stateless-protocol.js';

/** The only protocol version that allows batches. */
const VERSION_WITH_BATCHES = '2025-03-26';

const INITIALIZE_IN_BATCH: FieldProblem = {
  field: 'body',
  message: 'must not be an array if it contains initialize',
};

/** The methods that read a record and count as a read. */
const RESOURCE_READING_METHODS: ReadonlySet<string> = new Set([
  'resources/read',
  'resources/subscribe',
]);

/** Handles the messages of a POST to /mcp. */
@Injectable()
export class McpMessageHandler {
  constructor(
    private readonly settings: Settings,
    private readonly sessions: SessionStore,
    private readonly services: McpServices,
    private readonly subscriptionListen: SubscriptionListenHandler,
    private readonly limits: RateLimits,
    private readonly scopes: ScopeChallenge,
  ) {}

  /**
   * Reads the body of a POST and counts its messages, except those that count as reads or writes.
   * @returns the messages, or the error in the body: an unknown session takes precedence over it
   * @throws ApiError `rate_limit_exceeded`
   */
  async readBody(context: McpRequestContext): Promise<Messages | ApiError> {
    const body = await this.parseBody(context.request);
    const messages = body instanceof ApiError ? 1 : body.count - this.countCallsIn(body);
    await this.countMessages(messages, context.call, context.response);
    return body;
  }

  /**
   * Counts calls as messages if they were refused before they were counted as reads or writes.
   * @throws ApiError `rate_limit_exceeded`
   */
  async countRefusedCalls(body: Messages | ApiError, context: McpRequestContext): Promise<void> {
    if (body instanceof ApiError) return;
    await this.countMessages(
      this.countCallsIn(body) - context.countedCalls,
      context.call,
      context.response,
    );
  }

  /** @throws ApiError `rate_limit_exceeded` when the key exceeds its limit of messages */
  async countMessages(messages: number, call: Call, response: Response): Promise<void> {
    for (let counted = 0; counted < messages; counted++) {
      const window = await this.limits.count('messages', call.actor);
      if (!window.isBlocked) continue;
      setRateLimitHeaders(response, window);
      throw tooManyRequests(window, 'messages');
    }
  }

  /**
   * Handles a message of the stateless protocol version.
   * @returns the body of the response; undefined when there is none or it is a stream
   * @throws ApiError `validation_error` for any query parameter, `insufficient_scope` for an access token
   */
  async handleStateless(
    messages: Messages,
    context: McpRequestContext,
  ): Promise<string | undefined> {
    const { request, response } = context;
    rejectQueryParameters(request);
    this.scopes.check(messages, context);
    const { body } = messages;
    const answer = isListenRequest(body)
      ? await this.subscriptionListen.handle(body, context, (uri) =>
          this.services.readResource(uri, context),
        )
      : await handleMessage(body, (name) => request.get(name), {
          services: this.services,
          context,
          messages,
        });
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
   * @throws ApiError `no_session`, `validation_error`, `too_many_sessions`, `create_failed`
   */
  async initialize(messages: Messages, context: McpRequestContext): Promise<unknown> {
    const [request] = messages.requests;
    const mayOpen = hasSessions(context.call);
    if (request?.method !== 'initialize') {
      if (mayOpen) throw new ApiError('no_session');
      return this.handleRequests(messages, context);
    }
    const problems = schemaProblemsOf(request, 'InitializeRequest');
    if (messages.isBatch) problems.push(INITIALIZE_IN_BATCH);
    if (problems.length > 0) throw validationError(problems);
    const call = { services: this.services, context, messages };
    const [answer] = await handleRequests([request], call, mayOpen);
    if (!mayOpen) return answer;
    const parameters = {
      protocolVersion: negotiatedVersion(answer) ?? '',
      clientName: clientNameOf(request),
    };
    const replacedId = sessionIdOf(context.request);
    const session = await this.sessions.open(context.call, parameters, replacedId);
    this.terminateIfUnanswered(session, context.response);
    context.response.setHeader(SESSION_ID, session.id);
    return answer;
  }

  /**
   * Handles the messages of a session, or of a caller without sessions.
   * @throws ApiError `validation_error`, `insufficient_scope` for an access token
   */
  async handleRequests(
    messages: Messages,
    context: McpRequestContext,
    session?: Session,
  ): Promise<unknown> {
    const { requests, isBatch } = messages;
    const version = session?.protocolVersion ?? declaredProtocolVersion(context.request);
    if (isBatch && (version ?? VERSION_WITH_BATCHES) !== VERSION_WITH_BATCHES) {
      throw validationError([{ field: 'body', message: 'must be one message, not an array' }]);
    }
    if (requests.some(({ method }) => method === 'initialize')) {
      throw validationError([INITIALIZE_IN_BATCH]);
    }
    if (requests.length === 0) {
      context.response.status(202);
      return undefined;
    }
    this.scopes.check(messages, context);
    const call = { services: this.services, context, messages, session };
    const answers = await handleRequests(requests, call, session !== undefined);
    return isBatch ? answers : answers[0];
  }

  /** A client that disconnects before it receives the session id cannot use the session. */
  private terminateIfUnanswered(session: Session, response: Response): void {
    const terminate = () => {
      if (response.writableFinished) return;
      this.sessions.terminate(session).catch((error: unknown) => {
        logger.warn({ err: error }, 'a session that its client never received could not be ended');
      });
    };
    if (response.destroyed) terminate();
    else response.once('close', terminate);
  }

  private async parseBody(request: ApiRequest): Promise<Messages | ApiError> {
    try {
      return parseMessages(await readJsonBytes(request, this.settings.bodyLimitBytes));
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
  }

  /** The number of messages that count as reads or writes. */
  private countCallsIn({ requests }: Messages): number {
    const isCall = ({ method, params }: (typeof requests)[number]) =>
      RESOURCE_READING_METHODS.has(method) ||
      (method === 'tools/call' && this.services.tools.countsAsReadOrWrite(String(params?.name)));
    return requests.filter(isCall).length;
  }
}

/** Whether a caller has sessions. They belong to API keys, which callers with a token do not have. */
export function hasSessions({ actor: { key } }: Call): boolean {
  return key.subject === undefined;
}
