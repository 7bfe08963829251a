import { Injectable } from '@nestjs/common';
import type { Response } from 'express';
import type { ApiRequest } from '../../../platform/http/request/api-request.js';
import type { RateWindow } from '../../../platform/access/limits/rate-limit.storage.js';
import { remainingHits, setRateLimitHeaders } from '../../../platform/access/limits/rate-limits.js';
import type { Call } from '../../../platform/data/call.js';
import { CompletionService } from '../prompts/completion.service.js';
import { PromptRegistry } from '../prompts/prompt-registry.js';
import { type ReadResource, ResourceRegistry } from '../resources/resource-registry.js';
import { StoredSubscriptions } from '../sessions/stored-subscriptions.js';
import type { Session } from '../sessions/session.js';
import { ToolRegistry } from '../tools/tool-registry.js';
import { ToolRunner } from '../tools/tool-runner.js';
import type { Messages } from './messages.js';

/** One HTTP request to /mcp. */
export interface McpRequestContext {
  readonly call: Call;
  readonly request: ApiRequest;
  readonly response: Response;
  /** The number of calls that were counted as reads or writes. */
  countedCalls: number;
  /** The rate limit window that the response headers report. */
  reportedWindow?: RateWindow;
}

/** What the methods of the messages in a request need. */
export interface McpCall {
  readonly services: McpServices;
  readonly context: McpRequestContext;
  readonly messages: Messages;
  /** Undefined for messages without a session. */
  readonly session?: Session | undefined;
}

/** What agents can list, read and call. */
@Injectable()
export class McpServices {
  constructor(
    readonly subscriptions: StoredSubscriptions,
    readonly tools: ToolRegistry,
    readonly runner: ToolRunner,
    readonly prompts: PromptRegistry,
    readonly completions: CompletionService,
    readonly resources: ResourceRegistry,
  ) {}

  /**
   * Reads a resource, which counts as a read.
   * @throws ApiError `rate_limit_exceeded`, `not_found`, and others of the read
   */
  readResource(uri: string, context: McpRequestContext): Promise<ReadResource> {
    return this.resources.read(context.call, uri, (window) => {
      recordCall(context, window);
    });
  }
}

/** Counts a call and reports its window in the headers, unless an earlier call has fewer hits left. */
export function recordCall(context: McpRequestContext, window: RateWindow): void {
  context.countedCalls++;
  const reported = context.reportedWindow;
  if (reported && (reported.isBlocked || remainingHits(reported) < remainingHits(window))) return;
  context.reportedWindow = window;
  setRateLimitHeaders(context.response, window);
  if (window.isBlocked) context.response.setHeader('Retry-After', window.timeToBlockExpire);
}
