import type { CallToolRequest, CallToolResult } from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import { replayFor } from '../../../platform/access/replay.js';
import { insufficientScope, InsufficientScope } from '../../../platform/access/scopes.js';
import { IdempotencyRepository } from '../../../platform/data/idempotency.repository.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import {
  assertIdempotencyKey,
  canonicalJson,
} from '../../../platform/http/response/idempotency-key.js';
import type { RateWindow } from '../../../platform/access/limits/rate-limit.storage.js';
import {
  RateLimits,
  tooManyAtOnce,
  tooManyRequests,
} from '../../../platform/access/limits/rate-limits.js';
import { type Call, ReplayNeeds } from '../../../platform/data/call.js';
import type { ApiError } from '../../../platform/errors/api-error.js';
import type { Page } from '../../../platform/data/lists/page.js';
import { toLoggedApiError } from '../../../platform/http/error.filter.js';
import type { McpCall } from '../mcp-call.js';
import { ResourceRegistry } from '../resources/resource-registry.js';
import { missingScopeOf } from '../declared-methods.js';
import { unknownName } from '../rpc-error.js';
import { Previewed } from './previewed.js';
import type { ParsedArguments } from './tool-arguments.js';
import { type RegisteredTool, ToolRegistry } from './tool-registry.js';
import { compactPage, toolError, toolResult } from './tool-result.js';

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
    private readonly database: TenantDatabase,
    private readonly resources: ResourceRegistry,
    private readonly responses: IdempotencyRepository,
  ) {}

  /** @throws RpcError when there is no such tool */
  async call(
    { name, arguments: args = {}, _meta }: CallToolRequest['params'],
    { call, request, messages, onCounted, report }: McpCall,
  ): Promise<CallToolResult> {
    const tool = this.registry.find(name);
    if (!tool) throw unknownName('tool', name);
    const { declaration } = tool;
    const { actor } = call;
    const missing = missingScopeOf(declaration, actor.scopes);
    const limit = declaration.effect === 'reads' ? 'reads' : 'writes';
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
      const writes = declaration.writesOf?.(parsed.methodArguments.at(-1) as never) ?? 1;
      if (writes > 1) {
        window = await this.limits.countAs(writes, 'writes', actor);
        report(window);
        if (window.isBlocked) throw tooManyAtOnce(writes, 'writes', window);
      }
      const key = _meta?.[IDEMPOTENCY_KEY_META] ?? keyOfRequest;
      return toolResult(await this.run(tool, call, parsed, key));
    } catch (thrown) {
      const { requestId } = request.state;
      const error = toLoggedApiError(thrown, requestId, '/mcp');
      request.state.errorCode = error.code;
      return toolError(error, requestId, metadataOf(error, window));
    }
  }

  /**
   * @param key the key of a retry, as the client sent it. Only tools that create records use it.
   * @returns the result of this call, or of an earlier one with the same key
   */
  private async run(
    { declaration, run }: RegisteredTool,
    call: Call,
    { id, dry_run: isDryRun = false, methodArguments, comparable, fields = [] }: ParsedArguments,
    key: unknown,
  ) {
    const { name, effect, isPage, summary, resource: kind } = declaration;
    const shown = summary && [...new Set([...summary, ...fields])];
    const args = shown ? [...methodArguments, shown] : methodArguments;
    const previewWith = async (inner: Call) => Previewed.of((await run(inner, ...args)) as object);
    const runWith = async (inner: Call) => (await previewWith(inner)).result;
    if (isDryRun) {
      return this.database.dryRun(call, async (inner) => {
        const record =
          id !== undefined && kind && (await this.resources.readUncounted(inner, kind, id));
        const { result, preview } = await previewWith(inner);
        return { dry_run: true, would_answer: result, ...(record && { record }), ...preview };
      });
    }
    if (effect === 'creates' && key !== undefined) {
      assertIdempotencyKey(key, 'Idempotency-Key');
      const request = { key, route: `tool ${name}`, content: canonicalJson(comparable) };
      // The record and the result are stored together, so that a retry finds both or neither.
      return this.database.transaction(call, async (inner) => {
        const stored = await this.responses.claim(inner, request);
        if (stored) return JSON.parse(replayFor(call, stored).text) as object;
        const replay = new ReplayNeeds();
        const result = await runWith({ ...inner, replay });
        const text = JSON.stringify(result);
        const response = {
          status: 201,
          location: null,
          etag: null,
          text,
          scopes: replay.toStored(),
        };
        await this.responses.store(inner, request, response);
        return result;
      });
    }
    const answer = await runWith(call);
    return isPage ? compactPage(answer as Page<object>, shown) : answer;
  }
}

function metadataOf(error: ApiError, window: RateWindow | undefined): Record<string, unknown> {
  if (error instanceof InsufficientScope) return { required_scope: error.scope };
  if (error.code !== 'rate_limit_exceeded' || !window) return {};
  const { timeToExpire, endsAt } = window;
  return { retry_after_seconds: timeToExpire, resets_at: new Date(endsAt).toISOString() };
}
