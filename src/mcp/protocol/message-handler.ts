import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { logger } from '../../config/logger.js';
import { Settings } from '../../config/settings.js';
import { ApiError, validationError } from '../../errors/api-error.js';
import { toLoggedApiError } from '../../http/error.filter.js';
import { readJsonBytes } from '../../http/request/request-reader.js';
import type { RateWindow } from '../../rate-limit/rate-limit.storage.js';
import {
  RateLimits,
  remainingHits,
  setRateLimitHeaders,
  tooManyRequests,
} from '../../rate-limit/rate-limits.js';
import type { ApiRequest } from '../../http/request/api-request.js';
import type { Actor } from '../../tenancy/actor.js';
import { EVENT_STREAM, EventStream } from './event-stream.js';
import {
  declaredProtocolVersion,
  rejectQueryParameters,
  MCP_ROUTE,
  SESSION_ID,
} from './headers.js';
import { SubscriptionListenHandler } from '../subscriptions/subscription-listen-handler.js';
import { type Messages, parseMessages } from './messages.js';
import { type McpOperations, schemaProblemsOf } from './methods.js';
import { CompletionService } from '../prompts/completion.service.js';
import { PromptRegistry } from '../prompts/prompt-registry.js';
import { type ReadResource, ResourceRegistry } from '../resources/resource-registry.js';
import type { Session } from '../sessions/session.js';
import { clientNameOf, negotiatedVersion, handleRequests } from './session-protocol.js';
import { SessionStore } from '../sessions/session-store.js';
import { handleMessage, isListenRequest } from './stateless-protocol.js';
import { needsTextOnly, textOnly, withoutOutputSchema } from '../tools/result-forms.js';
import { ToolRegistry } from '../tools/tool-registry.js';
import { IDEMPOTENCY_KEY_META } from '../tools/idempotent-calls.js';
import { ToolRunner } from '../tools/tool-runner.js';

/** One HTTP request to /mcp. */
export interface McpRequestContext {
  readonly actor: Actor;
  readonly request: ApiRequest;
  readonly response: Response;
  /** The number of calls that were counted as reads or writes. */
  countedCalls: number;
  /** The rate limit window that the response headers report. */
  reportedWindow?: RateWindow;
}

/** The header names one call, and a batch can hold several. */
const KEY_OF_BATCH = {
  field: 'Idempotency-Key',
  message: `must not be sent with a batch; use _meta["${IDEMPOTENCY_KEY_META}"] of the call`,
};

/** The only protocol version that allows batches. */
const VERSION_WITH_BATCHES = '2025-03-26';

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
    private readonly registry: ToolRegistry,
    private readonly runner: ToolRunner,
    private readonly resources: ResourceRegistry,
    private readonly prompts: PromptRegistry,
    private readonly completions: CompletionService,
    private readonly subscriptionListen: SubscriptionListenHandler,
    private readonly limits: RateLimits,
  ) {}

  /**
   * Reads the body of a POST and counts its messages, except those that count as reads or writes.
   * @returns the messages, or the error in the body: an unknown session takes precedence over it
   * @throws ApiError `rate_limit_exceeded`
   */
  async readBody(context: McpRequestContext): Promise<Messages | ApiError> {
    const body = await this.parseBody(context.request);
    const messages = body instanceof ApiError ? 1 : body.count - this.countCallsIn(body);
    await this.countMessages(messages, context.actor, context.response);
    return body;
  }

  /**
   * Counts calls that were refused before they were counted as reads or writes as messages.
   * @throws ApiError `rate_limit_exceeded`
   */
  async countRefusedCalls(body: Messages | ApiError, context: McpRequestContext): Promise<void> {
    if (body instanceof ApiError) return;
    await this.countMessages(
      this.countCallsIn(body) - context.countedCalls,
      context.actor,
      context.response,
    );
  }

  /** @throws ApiError `rate_limit_exceeded` when the key exceeds its limit of messages */
  async countMessages(messages: number, actor: Actor, response: Response): Promise<void> {
    for (let counted = 0; counted < messages; counted++) {
      const window = await this.limits.count('messages', actor);
      if (!window.isBlocked) continue;
      setRateLimitHeaders(response, window);
      throw tooManyRequests(window, 'messages');
    }
  }

  /**
   * Handles a message of the stateless protocol version.
   * @returns the body of the response; undefined when there is none or it is a stream
   * @throws ApiError `validation_error` for any query parameter
   */
  async handleStateless(
    messages: Messages,
    context: McpRequestContext,
  ): Promise<string | undefined> {
    const { request, response } = context;
    rejectQueryParameters(request);
    const { body } = messages;
    const answer = isListenRequest(body)
      ? await this.subscriptionListen.handle(body, context, (uri) =>
          this.readResource(uri, context),
        )
      : await handleMessage(
          body,
          (name) => request.get(name),
          this.operationsFor(messages, context),
        );
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
   * Opens a session, except for callers without a key: they continue without a session id.
   * @throws ApiError `no_session`, `validation_error`, `too_many_sessions`, `create_failed`
   */
  async initialize(messages: Messages, context: McpRequestContext): Promise<unknown> {
    const [request, ...others] = messages.requests;
    const mayOpen = hasSessions(context.actor);
    if (request?.method !== 'initialize') {
      if (mayOpen) throw new ApiError('no_session');
      return this.handleRequests(messages, context);
    }
    const problems = schemaProblemsOf(request, 'InitializeRequest');
    if (others.length > 0 || messages.isBatch) {
      problems.push({ field: 'body', message: 'must hold nothing beside initialize' });
    }
    if (problems.length > 0) throw validationError(problems);
    const operations = this.operationsFor(messages, context);
    const [answer] = await handleRequests([request], operations, mayOpen);
    if (!mayOpen) return answer;
    const session = await this.sessions.open(context.actor, {
      protocolVersion: negotiatedVersion(answer) ?? '',
      clientName: clientNameOf(request),
    });
    this.terminateIfUnanswered(session, context.response);
    context.response.setHeader(SESSION_ID, session.id);
    return answer;
  }

  /**
   * Handles the messages of a session, or of a caller without sessions.
   * @throws ApiError `validation_error`
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
      const message = 'must not come with initialize, which opens a session of its own';
      throw validationError([{ field: SESSION_ID, message }]);
    }
    if (requests.length === 0) {
      context.response.status(202);
      return undefined;
    }
    const operations = this.operationsFor(messages, context, session);
    const answers = await handleRequests(requests, operations, session !== undefined);
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
      (method === 'tools/call' && this.registry.countsAsReadOrWrite(String(params?.name)));
    return requests.filter(isCall).length;
  }

  private operationsFor(
    { argumentProblems, isBatch }: Messages,
    context: McpRequestContext,
    session?: Session,
  ): McpOperations {
    const { actor, request } = context;
    const { state } = request;
    const { requestId } = state;
    const onCounted = (window: RateWindow) => {
      recordCall(context, window);
    };
    const withLoggedError = <T>(work: Promise<T>) =>
      work.catch((thrown: unknown) => {
        const error = toLoggedApiError(thrown, requestId, MCP_ROUTE);
        state.errorCode = error.code;
        throw error;
      });
    const keyOfRequest = request.get('Idempotency-Key');
    const parseProblems =
      isBatch && keyOfRequest !== undefined
        ? [...argumentProblems, KEY_OF_BATCH]
        : argumentProblems;
    const isTextOnly = needsTextOnly(session?.clientName);
    return {
      listTools: () => {
        const tools = this.registry.listFor(actor.scopes);
        return isTextOnly ? tools.map(withoutOutputSchema) : tools;
      },
      callTool: async (name, args, keyOfCall) => {
        const idempotencyKey = keyOfCall ?? keyOfRequest;
        const call = { actor, requestId, name, args, parseProblems, onCounted, idempotencyKey };
        const outcome = await this.runner.call(call);
        if (!outcome) return undefined;
        state.errorCode = outcome.error?.code;
        return isTextOnly ? textOnly(outcome.result) : outcome.result;
      },
      listResourceTemplates: () => this.resources.templatesFor(actor.scopes),
      readResource: (uri) => withLoggedError(this.readResource(uri, context)),
      subscriptions: session && {
        subscribe: (resource) => this.sessions.subscribe(session, resource),
        unsubscribe: (canonicalUri) => this.sessions.unsubscribe(session, canonicalUri),
      },
      listPrompts: () => this.prompts.listFor(actor.scopes),
      getPrompt: (name, args) => withLoggedError(this.prompts.get(actor, name, args)),
      complete: (reference, argument) =>
        withLoggedError(this.completions.complete(actor, reference, argument)),
    };
  }

  private readResource(uri: string, context: McpRequestContext): Promise<ReadResource> {
    return this.resources.read(context.actor, uri, (window) => {
      recordCall(context, window);
    });
  }
}

/** Whether a caller has sessions. They belong to API keys, which callers with a token have not. */
export function hasSessions({ key }: Actor): boolean {
  return key.subject === undefined;
}

/** Counts a call and reports its window in the headers, unless an earlier call has fewer hits left. */
function recordCall(context: McpRequestContext, window: RateWindow): void {
  context.countedCalls++;
  const reported = context.reportedWindow;
  if (reported && (reported.isBlocked || remainingHits(reported) < remainingHits(window))) return;
  context.reportedWindow = window;
  setRateLimitHeaders(context.response, window);
  if (window.isBlocked) context.response.setHeader('Retry-After', window.timeToBlockExpire);
}
