import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { Settings } from '../../config/settings.js';
import { ApiError, validationError } from '../../errors/api-error.js';
import { toLoggedApiError } from '../../errors/error.filter.js';
import { readJsonBytes } from '../../http/request/request-reader.js';
import type { RateWindow } from '../../rate-limit/rate-limit.storage.js';
import {
  RateLimits,
  remainingHits,
  setRateLimitHeaders,
  tooManyRequests,
} from '../../rate-limit/rate-limits.js';
import type { Actor, ApiRequest } from '../../tenancy/actor.js';
import { EVENT_STREAM, EventStream } from './event-stream.js';
import { checkQuery, MCP_ROUTE, SESSION_ID } from './headers.js';
import { Listening } from '../subscriptions/listening.js';
import { type Messages, readMessages } from './messages.js';
import { type Abilities, problemsOf } from './methods.js';
import { Completions } from '../prompts/completions.js';
import { Prompts } from '../prompts/prompts.js';
import { type FoundResource, Resources } from '../resources/resources.js';
import type { Session } from '../sessions/session.js';
import { agreedRevision, answer } from './session-protocol.js';
import { Sessions } from '../sessions/sessions.js';
import { answerAlone, isListen } from './stateless-protocol.js';
import { ToolRegistry } from '../tools/tool-registry.js';
import { ToolRunner } from '../tools/tool-runner.js';

/** Who asks, and the request and answer by which. */
export interface McpCaller {
  readonly actor: Actor;
  readonly request: ApiRequest;
  readonly response: Response;
  /** The calls that have counted as the reads and writes that they asked for. */
  callsRun: number;
  /** The window of a call that the headers tell. */
  told?: RateWindow;
}

/** The only revision in which several messages may come at once. */
const REVISION_WITH_BATCHES = '2025-03-26';

/** The methods that find a record, which counts as a read of it. */
const FINDING: ReadonlySet<string> = new Set(['resources/read', 'resources/subscribe']);

/** What a POST to /mcp asks for and what it is answered. */
@Injectable()
export class McpExchange {
  constructor(
    private readonly settings: Settings,
    private readonly sessions: Sessions,
    private readonly registry: ToolRegistry,
    private readonly runner: ToolRunner,
    private readonly resources: Resources,
    private readonly prompts: Prompts,
    private readonly completions: Completions,
    private readonly listening: Listening,
    private readonly limits: RateLimits,
  ) {}

  /**
   * Reads the messages of a POST and counts those that call no tool.
   * @returns what was wrong with the body, which is told only after the session is known to be
   * @throws ApiError `rate_limit_exceeded`
   */
  async read(caller: McpCaller): Promise<Messages | ApiError> {
    const body = await this.messagesOf(caller.request);
    const messages = body instanceof ApiError ? 1 : body.count - this.callsIn(body);
    await this.count(messages, caller.actor, caller.response);
    return body;
  }

  /**
   * Counts calls that were refused before they ran as the messages that they are.
   * @throws ApiError `rate_limit_exceeded`
   */
  async countRefusedCalls(body: Messages | ApiError, caller: McpCaller): Promise<void> {
    if (body instanceof ApiError) return;
    await this.count(this.callsIn(body) - caller.callsRun, caller.actor, caller.response);
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
  async answerAlone(messages: Messages, caller: McpCaller): Promise<string | undefined> {
    const { request, response } = caller;
    checkQuery(request);
    const abilities = this.abilitiesOf(messages, caller);
    const { body } = messages;
    const answered = isListen(body)
      ? await this.listening.answer(body, caller, (uri) => this.find(uri, caller))
      : await answerAlone(body, (name) => request.get(name), abilities);
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
  async begin(messages: Messages, caller: McpCaller): Promise<unknown> {
    const [request, ...others] = messages.requests;
    if (request?.method !== 'initialize') throw new ApiError('no_session');
    const problems = problemsOf(request, 'InitializeRequest');
    if (others.length > 0 || messages.isBatch) {
      problems.push({ field: 'body', message: 'must hold nothing beside initialize' });
    }
    if (problems.length > 0) throw validationError(problems);
    const session = this.sessions.open(caller.actor);
    const { response } = caller;
    // A client that left before it was told the id cannot use the place.
    response.once('close', () => {
      if (!response.writableFinished) this.sessions.end(session);
    });
    const [answered] = await answer([request], this.abilitiesOf(messages, caller));
    session.revision = agreedRevision(answered) ?? '';
    response.setHeader(SESSION_ID, session.id);
    return answered;
  }

  /** @throws ApiError `validation_error` */
  async goOn(session: Session, messages: Messages, caller: McpCaller): Promise<unknown> {
    const { requests, isBatch } = messages;
    if (isBatch && session.revision !== REVISION_WITH_BATCHES) {
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
    const answers = await answer(requests, this.abilitiesOf(messages, caller, session));
    return isBatch ? answers : answers[0];
  }

  private async messagesOf(request: ApiRequest): Promise<Messages | ApiError> {
    try {
      return readMessages(await readJsonBytes(request, this.settings.bodyLimitBytes));
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
  }

  /** The messages that count as the reads and writes that they ask for. */
  private callsIn({ requests }: Messages): number {
    const isCall = ({ method, params }: (typeof requests)[number]) =>
      FINDING.has(method) ||
      (method === 'tools/call' && this.registry.isCounted(String(params?.name)));
    return requests.filter(isCall).length;
  }

  private abilitiesOf(
    { argumentProblems }: Messages,
    caller: McpCaller,
    session?: Session,
  ): Abilities {
    const { actor, request } = caller;
    const { requestId } = request;
    const tell = (window: RateWindow) => {
      tellCall(caller, window);
    };
    const explaining = <T>(work: Promise<T>) =>
      work.catch((thrown: unknown) => {
        const error = toLoggedApiError(thrown, requestId, MCP_ROUTE);
        request.errorCode = error.code;
        throw error;
      });
    return {
      tools: () => this.registry.listFor(actor.scopes),
      call: async (name, args) => {
        const call = { actor, requestId, name, args, unread: argumentProblems, tell };
        const outcome = await this.runner.call(call);
        if (!outcome) return undefined;
        request.errorCode = outcome.error?.code;
        return outcome.result;
      },
      templates: () => this.resources.templatesFor(actor.scopes),
      find: (uri) => explaining(this.find(uri, caller)),
      subscriptions: session,
      prompts: () => this.prompts.listFor(actor.scopes),
      prompt: (name, args) => explaining(this.prompts.get(actor, name, args)),
      complete: (of, argument) => explaining(this.completions.complete(actor, of, argument)),
    };
  }

  private find(uri: string, caller: McpCaller): Promise<FoundResource> {
    return this.resources.find(caller.actor, uri, (state) => {
      tellCall(caller, state);
    });
  }
}

/** Notes that a call has counted, and tells what is left: of several windows, the one with least. */
function tellCall(caller: McpCaller, state: RateWindow): void {
  caller.callsRun++;
  const { told } = caller;
  if (told && (told.isBlocked || remainingHits(told) < remainingHits(state))) return;
  caller.told = state;
  setRateLimitHeaders(caller.response, state);
  if (state.isBlocked) caller.response.setHeader('Retry-After', state.timeToBlockExpire);
}
