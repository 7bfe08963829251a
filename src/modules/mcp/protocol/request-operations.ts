import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { ApiRequest } from '../../../platform/http/request/api-request.js';
import type { RateWindow } from '../../../platform/access/limits/rate-limit.storage.js';
import { remainingHits, setRateLimitHeaders } from '../../../platform/access/limits/rate-limits.js';
import type { Actor } from '../../../platform/data/actor.js';
import {
  type CompletionArgument,
  type CompletionReference,
  type CompletionResult,
  CompletionService,
} from '../prompts/completion.service.js';
import {
  type PromptDefinition,
  PromptRegistry,
  type PromptResult,
} from '../prompts/prompt-registry.js';
import {
  type ListResource,
  type ReadResource,
  ResourceRegistry,
  type ResourceTemplate,
} from '../resources/resource-registry.js';
import { StoredSubscriptions } from '../sessions/stored-subscriptions.js';
import type { Session } from '../sessions/session.js';
import { IDEMPOTENCY_KEY_META } from '../tools/idempotent-calls.js';
import { needsTextOnly, textOnly, withoutOutputSchema } from '../tools/result-forms.js';
import type { ToolDefinition } from '../tools/tool-definition.js';
import { ToolRegistry } from '../tools/tool-registry.js';
import type { ToolResult } from '../tools/tool-result.js';
import { ToolRunner } from '../tools/tool-runner.js';
import { toLoggedMcpError } from '../mcp-error.js';
import type { Messages } from './messages.js';

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
    readonly subscriptions: StoredSubscriptions,
    readonly tools: ToolRegistry,
    readonly runner: ToolRunner,
    readonly resources: ResourceRegistry,
    readonly prompts: PromptRegistry,
    readonly completions: CompletionService,
  ) {}

  /** @param session undefined for a message without a session */
  for(messages: Messages, context: McpRequestContext, session?: Session): McpOperations {
    return new McpOperations(this, messages, context, session);
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

/** The operations available to a caller, in every protocol version. */
export class McpOperations {
  private readonly actor: Actor;
  private readonly isTextOnly: boolean;

  constructor(
    private readonly services: RequestOperations,
    private readonly messages: Messages,
    private readonly context: McpRequestContext,
    private readonly session: Session | undefined,
  ) {
    this.actor = context.actor;
    this.isTextOnly = needsTextOnly(session?.clientName);
  }

  listTools(): Omit<ToolDefinition, 'outputSchema'>[] {
    const tools = this.services.tools.listFor(this.actor.scopes);
    return this.isTextOnly ? tools.map(withoutOutputSchema) : tools;
  }

  /** @returns undefined when there is no such tool */
  async callTool(
    name: string,
    args: Record<string, unknown>,
    keyOfCall: unknown,
  ): Promise<ToolResult | undefined> {
    const { actor, context, messages } = this;
    const { state } = context.request;
    const keyOfRequest = context.request.get('Idempotency-Key');
    const hasKeyOfBatch = messages.isBatch && keyOfRequest !== undefined;
    const outcome = await this.services.runner.call({
      actor,
      requestId: state.requestId,
      name,
      args,
      parseProblems: [...messages.argumentProblems, ...(hasKeyOfBatch ? [KEY_OF_BATCH] : [])],
      idempotencyKey: keyOfCall ?? keyOfRequest,
      onCounted: (window) => {
        recordCall(context, window);
      },
    });
    if (!outcome) return undefined;
    state.errorCode = outcome.error?.code;
    return this.isTextOnly ? textOnly(outcome.result) : outcome.result;
  }

  listResources(): ListResource[] {
    return this.services.resources.listsFor(this.actor.scopes);
  }

  listResourceTemplates(): ResourceTemplate[] {
    return this.services.resources.templatesFor(this.actor.scopes);
  }

  /** @throws ApiError */
  readResource(uri: string): Promise<ReadResource> {
    return this.logged(this.services.readResource(uri, this.context));
  }

  /** Undefined without a session, as in the stateless protocol. */
  get subscriptions() {
    const { session, services } = this;
    return (
      session && {
        /** @returns false when the limit of subscriptions is reached */
        subscribe: (resource: ReadResource) => services.subscriptions.add(session, resource),
        unsubscribe: (canonicalUri: string) => services.subscriptions.remove(session, canonicalUri),
      }
    );
  }

  listPrompts(): PromptDefinition[] {
    return this.services.prompts.listFor(this.actor.scopes);
  }

  /**
   * @returns undefined when there is no such prompt
   * @throws ApiError
   */
  getPrompt(name: string, args: object): Promise<PromptResult | undefined> {
    return this.logged(this.services.prompts.get(this.actor, name, args));
  }

  /**
   * @returns undefined when there is no such prompt, resource template or argument
   * @throws ApiError
   */
  complete(
    reference: CompletionReference,
    argument: CompletionArgument,
  ): Promise<CompletionResult | undefined> {
    return this.logged(this.services.completions.complete(this.actor, reference, argument));
  }

  /** Logs a failure of the work, and rejects with its API error. */
  private async logged<T>(work: Promise<T>): Promise<T> {
    const { state } = this.context.request;
    try {
      return await work;
    } catch (thrown) {
      const error = toLoggedMcpError(thrown, state.requestId);
      state.errorCode = error.code;
      throw error;
    }
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
