import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { ApiRequest } from '../../../platform/http/request/api-request.js';
import type { RateWindow } from '../../../platform/access/limits/rate-limit.storage.js';
import { remainingHits, setRateLimitHeaders } from '../../../platform/access/limits/rate-limits.js';
import type { Actor } from '../../../platform/data/actor.js';
import { CompletionService } from '../prompts/completion.service.js';
import { PromptRegistry } from '../prompts/prompt-registry.js';
import { type ReadResource, ResourceRegistry } from '../resources/resource-registry.js';
import { StoredSubscriptions } from '../sessions/stored-subscriptions.js';
import type { Session } from '../sessions/session.js';
import { IDEMPOTENCY_KEY_META } from '../tools/idempotent-calls.js';
import { needsTextOnly, textOnly, withoutOutputSchema } from '../tools/result-forms.js';
import { ToolRegistry } from '../tools/tool-registry.js';
import { ToolRunner } from '../tools/tool-runner.js';
import { toLoggedMcpError } from '../mcp-error.js';
import type { Messages } from './messages.js';
import type { McpOperations } from './methods.js';

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

/** The problem of a batch with the header `Idempotency-Key`, which is the key of a single call. */
const KEY_OF_BATCH = {
  field: 'Idempotency-Key',
  message: `must not be sent with a batch; use _meta["${IDEMPOTENCY_KEY_META}"] of the call`,
};

/** Creates the operations of MCP for the caller of one HTTP request. */
@Injectable()
export class RequestOperations {
  constructor(
    private readonly subscriptions: StoredSubscriptions,
    private readonly registry: ToolRegistry,
    private readonly runner: ToolRunner,
    private readonly resources: ResourceRegistry,
    private readonly prompts: PromptRegistry,
    private readonly completions: CompletionService,
  ) {}

  /** @param session undefined for a message without a session */
  for(messages: Messages, context: McpRequestContext, session?: Session): McpOperations {
    return {
      ...this.toolOperations(messages, context, session),
      ...this.resourceOperations(context, session),
      ...this.promptOperations(context),
    };
  }

  private toolOperations(
    { argumentProblems, isBatch }: Messages,
    context: McpRequestContext,
    session: Session | undefined,
  ): Pick<McpOperations, 'listTools' | 'callTool'> {
    const { actor, request } = context;
    const { state } = request;
    const { requestId } = state;
    const keyOfRequest = request.get('Idempotency-Key');
    const parseProblems =
      isBatch && keyOfRequest !== undefined
        ? [...argumentProblems, KEY_OF_BATCH]
        : argumentProblems;
    const isTextOnly = needsTextOnly(session?.clientName);
    const onCounted = (window: RateWindow) => {
      recordCall(context, window);
    };
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
    };
  }

  private resourceOperations(
    context: McpRequestContext,
    session: Session | undefined,
  ): Pick<
    McpOperations,
    'listResources' | 'listResourceTemplates' | 'readResource' | 'subscriptions'
  > {
    const { actor, request } = context;
    return {
      listResources: () => this.resources.listsFor(actor.scopes),
      listResourceTemplates: () => this.resources.templatesFor(actor.scopes),
      readResource: (uri) => withLoggedError(request, this.readResource(uri, context)),
      subscriptions: session && {
        subscribe: (resource) => this.subscriptions.add(session, resource),
        unsubscribe: (canonicalUri) => this.subscriptions.remove(session, canonicalUri),
      },
    };
  }

  private promptOperations({
    actor,
    request,
  }: McpRequestContext): Pick<McpOperations, 'listPrompts' | 'getPrompt' | 'complete'> {
    return {
      listPrompts: () => this.prompts.listFor(actor.scopes),
      getPrompt: (name, args) => withLoggedError(request, this.prompts.get(actor, name, args)),
      complete: (reference, argument) =>
        withLoggedError(request, this.completions.complete(actor, reference, argument)),
    };
  }

  /**
   * Reads a resource, which counts as a read.
   * @throws ApiError `rate_limit_exceeded`, `not_found`, and others of the read
   */
  readResource(uri: string, context: McpRequestContext): Promise<ReadResource> {
    return this.resources.read(context.actor, uri, (window) => {
      recordCall(context, window);
    });
  }
}

/** Logs a failure of the work, and rejects with its API error. */
async function withLoggedError<T>({ state }: ApiRequest, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (thrown) {
    const error = toLoggedMcpError(thrown, state.requestId);
    state.errorCode = error.code;
    throw error;
  }
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
