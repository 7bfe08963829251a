import type {
  CallToolRequest,
  CallToolResult,
  InputRequiredResult,
} from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import {
  assertScopes,
  insufficientScope,
  InsufficientScope,
} from '../../../platform/access/scopes.js';
import {
  failSpan,
  inSpan,
  readTraceparent,
  toolSpan,
  traceparentOf,
} from '../../../platform/tracing.js';
import { giveWay } from '../../../platform/give-way.js';
import type { RateWindow } from '../../../platform/access/limits/rate-limit.storage.js';
import {
  RateLimits,
  tooManyAtOnce,
  tooManyRequests,
} from '../../../platform/access/limits/rate-limits.js';
import type { ApiError } from '../../../platform/errors/api-error.js';
import { toLoggedApiError } from '../../../platform/http/error.filter.js';
import type { Call } from '../../../platform/data/call.js';
import type { McpCall } from '../mcp-call.js';
import { missingScopeOf } from '../declared-methods.js';
import { unknownName } from '../rpc-error.js';
import { DRY_RUN } from './built-in-arguments.js';
import { type AskingCall, Confirmations } from './confirmations.js';
import type { ToolDeclaration } from './tool.decorator.js';
import { ToolExecution } from './tool-execution.js';
import { type RegisteredTool, ToolRegistry } from './tool-registry.js';
import { toolError, toolResult } from './tool-result.js';

/** The entry of `_meta` with the idempotency key of a call, for hosts that cannot set a header. */
const IDEMPOTENCY_KEY_META = 'latitude/idempotency_key';

/** The problem of a batch with the header `Idempotency-Key`, which is the key of a single call. */
const KEY_OF_BATCH = {
  field: 'Idempotency-Key',
  message: `must not be sent with a batch; use _meta["${IDEMPOTENCY_KEY_META}"] of the call`,
};

/** Runs tools with the rate limits, scopes and validation of REST. */
@Injectable()
export class ToolRunner {
  constructor(
    private readonly registry: ToolRegistry,
    private readonly limits: RateLimits,
    private readonly confirmations: Confirmations,
    private readonly execution: ToolExecution,
  ) {}

  /**
   * @returns the result, or a question to the user
   * @throws RpcError when there is no such tool
   */
  async call(
    params: CallToolRequest['params'],
    context: McpCall,
  ): Promise<CallToolResult | InputRequiredResult> {
    const tool = this.registry.find(params.name);
    if (!tool) throw unknownName('tool', params.name);
    return inSpan(toolSpan(params.name, params._meta), async (span) => {
      const traceparent = traceparentOf(
        span,
        readTraceparent(params._meta ?? {}) ?? context.call.traceparent,
      );
      const call = { ...context.call, traceparent };
      const result = await this.run(tool, call, params, context);
      if (result.isError) failSpan(span, 'tool_error');
      return result;
    });
  }

  private async run(
    tool: RegisteredTool,
    call: Call,
    { arguments: args = {}, _meta }: CallToolRequest['params'],
    context: McpCall,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { request, messages, onCounted, report } = context;
    const { declaration } = tool;
    const { actor } = call;
    const missing = missingScopeOf(declaration, actor.scopes);
    const asking = askingCallOf(declaration, args, context);
    const reply = asking && (await this.confirmations.replyTo(asking));
    // A question changes nothing.
    const isRead = declaration.effect === 'reads' || (reply && reply.kind !== 'confirmed');
    const limit = isRead ? 'reads' : 'writes';
    let window = declaration.isUnmetered ? undefined : await this.limits.count(limit, actor);
    if (window) onCounted(window);
    const keyOfRequest = request.get('Idempotency-Key');
    const isKeyOfBatch = messages.isBatch && keyOfRequest !== undefined;
    try {
      if (window?.isBlocked) throw tooManyRequests(window, limit);
      if (missing !== undefined) throw insufficientScope(missing);
      const { argumentProblems } = messages;
      const problems = isKeyOfBatch ? [...argumentProblems, KEY_OF_BATCH] : argumentProblems;
      const parsed = await tool.arguments.parse(args, problems);
      assertScopes(actor, parsed.scopes);
      const writes = declaration.writesOf?.(parsed.methodArguments.at(-1) as never) ?? 1;
      if (writes > 1) {
        window = await this.limits.countAs(writes, 'writes', actor);
        report(window);
        if (window.isBlocked) throw tooManyAtOnce(writes, 'writes', window);
      }
      if (reply?.kind === 'refused')
        return toolResult({ confirmed: false, message: reply.message });
      const execution = { tool, parsed, key: _meta?.[IDEMPOTENCY_KEY_META] ?? keyOfRequest };
      if (!asking) {
        const result = await this.execution.run(call, execution);
        await giveWay();
        return toolResult(result);
      }
      const version = reply?.kind === 'confirmed' ? reply.version : undefined;
      const outcome = await this.execution.runIfConfirmed(call, execution, version);
      if ('version' in outcome) return await this.confirmations.question(asking, outcome);
      return toolResult(outcome.result);
    } catch (thrown) {
      const { requestId } = request.state;
      const error = toLoggedApiError(thrown, requestId, '/mcp');
      request.state.errorCode = error.code;
      return toolError(error, requestId, metadataOf(error, window));
    }
  }
}

/** @returns undefined if the call does not ask the user */
function askingCallOf(
  tool: ToolDeclaration,
  args: Readonly<Record<string, unknown>>,
  { call, input }: McpCall,
): AskingCall | undefined {
  const isDryRun = args[DRY_RUN] === true || args[DRY_RUN] === null;
  if (tool.effect !== 'deletes' || isDryRun || !call.actor.asksForConfirmation) return undefined;
  return input?.hasForms ? { call, tool, args, input } : undefined;
}

function metadataOf(error: ApiError, window: RateWindow | undefined): Record<string, unknown> {
  if (error instanceof InsufficientScope) return { required_scope: error.scope };
  if (error.code !== 'rate_limit_exceeded' || !window) return {};
  const { timeToExpire, endsAt } = window;
  return { retry_after_seconds: timeToExpire, resets_at: new Date(endsAt).toISOString() };
}
