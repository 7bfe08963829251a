import type { CallToolResult } from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import { insufficientScope } from '../../../platform/access/scopes.js';
import { IdempotencyRepository } from '../../../platform/data/idempotency.repository.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import {
  assertIdempotencyKey,
  canonicalJson,
} from '../../../platform/http/response/idempotency-key.js';
import type { IdempotentRequest } from '../../../platform/data/stored-responses.js';
import type { ApiError } from '../../../platform/errors/api-error.js';
import type { RateWindow } from '../../../platform/access/limits/rate-limit.storage.js';
import {
  RateLimits,
  tooManyAtOnce,
  tooManyRequests,
} from '../../../platform/access/limits/rate-limits.js';
import type { Call } from '../../../platform/data/call.js';
import type { Page } from '../../../platform/data/lists/page.js';
import { toLoggedMcpError } from '../mcp-error.js';
import { ResourceRegistry } from '../resources/resource-registry.js';
import { missingScopeOf } from '../declared-methods.js';
import type { ToolDeclaration } from './tool.decorator.js';
import type { ParsedArguments, RawArguments } from './tool-arguments.js';
import { type RegisteredTool, ToolRegistry } from './tool-registry.js';
import { compactPage, toolError, toolResult } from './tool-result.js';

/** The entry of `_meta` with the idempotency key of a call, for hosts that cannot set a header. */
export const IDEMPOTENCY_KEY_META = 'latitude/idempotency_key';

export interface ToolCall extends RawArguments {
  readonly call: Call;
  readonly name: string;
  /** The key of a retry, as the client sent it. Only tools that create records use it. */
  readonly idempotencyKey?: unknown;
  /** Receives the rate limit window of the call before the tool runs. */
  readonly onCounted: (window: RateWindow) => void;
}

export interface ToolOutcome {
  readonly result: CallToolResult;
  readonly error?: ApiError;
}

/** Runs tools with the rate limits, scopes and validation of REST. */
@Injectable()
export class ToolRunner {
  constructor(
    private readonly registry: ToolRegistry,
    private readonly limits: RateLimits,
    private readonly database: TenantDatabase,
    private readonly resources: ResourceRegistry,
    private readonly responses: IdempotencyRepository,
  ) {}

  /** @returns undefined when there is no such tool */
  async call(toolCall: ToolCall): Promise<ToolOutcome | undefined> {
    const tool = this.registry.find(toolCall.name);
    if (!tool) return undefined;
    const { declaration } = tool;
    const { actor, requestId = '' } = toolCall.call;
    const { isUnmetered } = declaration;
    const missing = missingScopeOf(declaration, actor.scopes);
    let window = isUnmetered ? undefined : await this.count(declaration, toolCall);
    try {
      if (window?.isBlocked) throw tooManyRequests(window, limitOf(declaration));
      if (missing !== undefined) throw insufficientScope(missing);
      const parsed = await tool.arguments.parse(toolCall);
      const writes = declaration.writesOf?.(parsed.methodArguments.at(-1) as never) ?? 1;
      if (writes > 1) {
        window = await this.limits.countAs(writes, 'writes', actor);
        toolCall.onCounted(window);
        if (window.isBlocked) throw tooManyAtOnce(writes, 'writes', window);
      }
      return { result: toolResult(await this.run(tool, toolCall, parsed)) };
    } catch (thrown) {
      const error = toLoggedMcpError(thrown, requestId);
      const metadata = metadataOf(error.code, missing, window);
      return { error, result: toolError(error, requestId, metadata) };
    }
  }

  private async count(tool: ToolDeclaration, { call, onCounted }: ToolCall): Promise<RateWindow> {
    const window = await this.limits.count(limitOf(tool), call.actor);
    onCounted(window);
    return window;
  }

  private async run(
    { declaration, run }: RegisteredTool,
    { call, name, idempotencyKey }: ToolCall,
    { id, dry_run: isDryRun = false, methodArguments, comparable, fields = [] }: ParsedArguments,
  ) {
    const { effect, isPage, summary } = declaration;
    const runWith = async (inner: Call) => (await run(inner, ...methodArguments)) as object;
    if (!isDryRun && effect === 'creates' && idempotencyKey !== undefined) {
      assertIdempotencyKey(idempotencyKey, 'Idempotency-Key');
      const content = canonicalJson(comparable);
      return this.runOnce(call, { key: idempotencyKey, route: `tool ${name}`, content }, runWith);
    }
    if (!isDryRun) {
      const answer = await runWith(call);
      const shown = summary && [...new Set([...summary, ...fields])];
      return isPage ? compactPage(answer as Page<object>, shown) : answer;
    }
    return this.database.dryRun(call, async (inner) => {
      const { resource: kind } = declaration;
      const record =
        id !== undefined && kind && (await this.resources.readUncounted(inner, kind, id));
      const answer = await runWith(inner);
      return { dry_run: true, would_answer: answer, ...(record && { record }) };
    });
  }

  /**
   * Stores the record and the result in one transaction, so that a retry finds both or neither.
   * @returns the result of this call or of an earlier one with the same key
   * @throws ApiError `idempotency_key_in_use`, `idempotency_key_reused`, `create_failed`, and any error of `run`
   */
  private runOnce(
    call: Call,
    request: IdempotentRequest,
    run: (call: Call) => Promise<object>,
  ): Promise<object> {
    return this.database.transaction(call, async (inner) => {
      const stored = await this.responses.claim(inner, request);
      if (stored) return JSON.parse(stored.text) as object;
      const result = await run(inner);
      const response = { status: 201, location: null, etag: null, text: JSON.stringify(result) };
      await this.responses.store(inner, request, response);
      return result;
    });
  }
}

function limitOf({ effect }: ToolDeclaration): 'reads' | 'writes' {
  return effect === 'reads' ? 'reads' : 'writes';
}

function metadataOf(
  code: string,
  missing: string | undefined,
  window: RateWindow | undefined,
): Record<string, unknown> {
  if (code === 'insufficient_scope') return { required_scope: missing };
  if (code !== 'rate_limit_exceeded' || !window) return {};
  const { timeToBlockExpire, endsAt } = window;
  return { retry_after_seconds: timeToBlockExpire, resets_at: new Date(endsAt).toISOString() };
}
