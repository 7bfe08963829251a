import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
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
import { rejectQueryParameters, MCP_ROUTE, SESSION_ID } from './headers.js';
import { SubscriptionListenHandler } from '../subscriptions/subscription-listen-handler.js';
import { type Messages, parseMessages } from './messages.js';
import { type McpOperations, schemaProblemsOf } from './methods.js';
import { CompletionService } from '../prompts/completion.service.js';
import { PromptRegistry } from '../prompts/prompt-registry.js';
import { type ReadResource, ResourceRegistry } from '../resources/resource-registry.js';
import type { Session } from '../sessions/session.js';
import { negotiatedVersion, handleRequests } from './session-protocol.js';
import { SessionStore } from '../sessions/session-store.js';
import { handleMessage, isListenRequest } from './stateless-protocol.js';
import { ToolRegistry } from '../tools/tool-registry.js';
import { ToolRunner } from '../tools/tool-runner.js';

/** Who asks, and the request and answer by which. */
export interface McpRequestContext {
  readonly actor: Actor;
  readonly request: ApiRequest;
  readonly response: Response;
  /** The calls that have counted as the reads and writes that they asked for. */
  countedCalls: number;
  /** The window of a call that the headers tell. */
  reportedWindow?: RateWindow;
}

/** The only revision in which several messages may come at once. */
const VERSION_WITH_BATCHES = '2025-03-26';

/** The methods that find a record, which counts as a read of it. */
const RESOURCE_READING_METHODS: ReadonlySet<string> = new Set([
  'resources/read',
  'resources/subscribe',
]);

/** What a POST to /mcp asks for and what it is answered. */
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
    private readonly listening: SubscriptionListenHandler,
    private readonly limits: RateLimits,
  ) {}

  /**
   * Reads the messages of a POST and counts those that call no tool.
   * @returns what was wrong with the body, which is told only after the session is known to be
   * @throws ApiError `rate_limit_exceeded`
   */
  async read(caller: McpRequestContext): Promise<Messages | ApiError> {
    const body = await this.parseBody(caller.request);
    const messages =
      body instanceof ApiError ? 1 : body.countMessages - this.rateLimitedCallsIn(body);
    await this.count(messages, caller.actor, caller.response);
    return body;
  }

  /**
   * Counts calls that were refused before they ran as the messages that they are.
   * @throws ApiError `rate_limit_exceeded`
   */
  async countRefusedCalls(body: Messages | ApiError, caller: McpRequestContext): Promise<void> {
    if (body instanceof ApiError) return;
    await this.count(
      this.rateLimitedCallsIn(body) - caller.countedCalls,
      caller.actor,
      caller.response,
    );
  }

  /** @throws ApiError `rate_limit_exceeded` where the key sends more messages than the flood guard allows */
  async count(messages: number, actor: Actor, response: Response): Promise<void> {
    for (let counted = 0; counted < messages; counted++) {
      const state = await this.limits.count('messages', actor.key.id);
      if (!state.isBlocked) continue;
      setRateLimitHeaders(response, state);
      throw tooManyRequests(state, 'messages');
    }
  }

  /**
   * Answers a message that needs no session and opens none.
   * @throws ApiError `validation_error` for a query
   */
  async handleStateless(
    messages: Messages,
    caller: McpRequestContext,
  ): Promise<string | undefined> {
    const { request, response } = caller;
    rejectQueryParameters(request);
    const abilities = this.operationsFor(messages, caller);
    const { body } = messages;
    const answered = isListenRequest(body)
      ? await this.listening.handle(body, caller, (uri) => this.readResource(uri, caller))
      : await handleMessage(body, (name) => request.get(name), abilities);
    const type = answered.headers.get('Content-Type');
    if (type === EVENT_STREAM && answered.body) {
      new EventStream(response).pipe(answered.body).catch(() => response.destroy());
      return undefined;
    }
    response.status(answered.status);
    if (type === null) return undefined;
    response.type(type);
    return answered.text();
  }

  /** @throws ApiError `no_session`, `validation_error`, `too_many_sessions` */
  async initialize(messages: Messages, caller: McpRequestContext): Promise<unknown> {
    const [request, ...others] = messages.requests;
    if (request?.method !== 'initialize') throw new ApiError('no_session');
    const problems = schemaProblemsOf(request, 'InitializeRequest');
    if (others.length > 0 || messages.isBatch) {
      problems.push({ field: 'body', message: 'must hold nothing beside initialize' });
    }
    if (problems.length > 0) throw validationError(problems);
    const session = this.sessions.open(caller.actor);
    const { response } = caller;
    // A client that left before it was told the id cannot use the place.
    response.once('close', () => {
      if (!response.writableFinished) this.sessions.terminate(session);
    });
    const [answered] = await handleRequests([request], this.operationsFor(messages, caller));
    session.protocolVersion = negotiatedVersion(answered) ?? '';
    response.setHeader(SESSION_ID, session.id);
    return answered;
  }

  /** @throws ApiError `validation_error` */
  async handleInSession(
    session: Session,
    messages: Messages,
    caller: McpRequestContext,
  ): Promise<unknown> {
    const { requests, isBatch } = messages;
    if (isBatch && session.protocolVersion !== VERSION_WITH_BATCHES) {
      throw validationError([{ field: 'body', message: 'must be one message, not an array' }]);
    }
    if (requests.some(({ method }) => method === 'initialize')) {
      const message = 'must not come with initialize, which opens a session of its own';
      throw validationError([{ field: SESSION_ID, message }]);
    }
    if (requests.length === 0) {
      caller.response.status(202);
      return undefined;
    }
    const answers = await handleRequests(requests, this.operationsFor(messages, caller, session));
    return isBatch ? answers : answers[0];
  }

  private async parseBody(request: ApiRequest): Promise<Messages | ApiError> {
    try {
      return parseMessages(await readJsonBytes(request, this.settings.bodyLimitBytes));
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
  }

  /** The messages that count as the reads and writes that they ask for. */
  private rateLimitedCallsIn({ requests }: Messages): number {
    const isCall = ({ method, params }: (typeof requests)[number]) =>
      RESOURCE_READING_METHODS.has(method) ||
      (method === 'tools/call' && this.registry.countsAsReadOrWrite(String(params?.name)));
    return requests.filter(isCall).length;
  }

  private operationsFor(
    { argumentProblems }: Messages,
    caller: McpRequestContext,
    session?: Session,
  ): McpOperations {
    const { actor, request } = caller;
    const { state } = request;
    const { requestId } = state;
    const onCounted = (window: RateWindow) => {
      recordCall(caller, window);
    };
    const explaining = <T>(work: Promise<T>) =>
      work.catch((thrown: unknown) => {
        const error = toLoggedApiError(thrown, requestId, MCP_ROUTE);
        state.errorCode = error.code;
        throw error;
      });
    return {
      listTools: () => this.registry.listFor(actor.scopes),
      callTool: async (name, args) => {
        const call = { actor, requestId, name, args, parseProblems: argumentProblems, onCounted };
        const outcome = await this.runner.call(call);
        if (!outcome) return undefined;
        state.errorCode = outcome.error?.code;
        return outcome.result;
      },
      listResourceTemplates: () => this.resources.templatesFor(actor.scopes),
      readResource: (uri) => explaining(this.readResource(uri, caller)),
      subscriptions: session,
      listPrompts: () => this.prompts.listFor(actor.scopes),
      getPrompt: (name, args) => explaining(this.prompts.get(actor, name, args)),
      complete: (of, argument) => explaining(this.completions.complete(actor, of, argument)),
    };
  }

  private readResource(uri: string, caller: McpRequestContext): Promise<ReadResource> {
    return this.resources.read(caller.actor, uri, (state) => {
      recordCall(caller, state);
    });
  }
}

/** Notes that a call has counted, and tells what is left: of several windows, the one with least. */
function recordCall(caller: McpRequestContext, state: RateWindow): void {
  caller.countedCalls++;
  const { reportedWindow } = caller;
  if (
    reportedWindow &&
    (reportedWindow.isBlocked || remainingHits(reportedWindow) < remainingHits(state))
  )
    return;
  caller.reportedWindow = state;
  setRateLimitHeaders(caller.response, state);
  if (state.isBlocked) caller.response.setHeader('Retry-After', state.timeToBlockExpire);
}
