import { Injectable } from '@nestjs/common';
import { insufficientScope } from '../../../platform/access/scopes.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import type { ApiError } from '../../../platform/errors/api-error.js';
import type { RateWindow } from '../../../platform/access/limits/rate-limit.storage.js';
import { RateLimits, tooManyRequests } from '../../../platform/access/limits/rate-limits.js';
import type { Actor } from '../../../platform/data/actor.js';
import type { Page } from '../../../platform/data/lists/page.js';
import { toLoggedMcpError } from '../mcp-error.js';
import { ResourceRegistry } from '../resources/resource-registry.js';
import { IdempotentCalls } from './idempotent-calls.js';
import { compactPage } from './page-fields.js';
import type { ToolDeclaration } from './tool.decorator.js';
import type { RawArguments } from './tool-arguments.js';
import { type RegisteredTool, ToolRegistry } from './tool-registry.js';
import { toolError, type ToolResult, toolResult } from './tool-result.js';

export interface ToolCall extends RawArguments {
  readonly actor: Actor;
  readonly requestId: string;
  readonly name: string;
  /** The key of a retry, as the client sent it. Only tools that create records use it. */
  readonly idempotencyKey?: unknown;
  /** Receives the rate limit window of the call before the tool runs. */
  readonly onCounted: (window: RateWindow) => void;
}

export interface ToolOutcome {
  readonly result: ToolResult;
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
    private readonly idempotentCalls: IdempotentCalls,
  ) {}

  /** @returns undefined when there is no such tool */
  async call(call: ToolCall): Promise<ToolOutcome | undefined> {
    const tool = this.registry.find(call.name);
    if (!tool) return undefined;
    const { declaration } = tool;
    const { actor, requestId } = call;
    const { scope, isUnmetered } = declaration;
    const window = isUnmetered ? undefined : await this.count(declaration, call);
    try {
      if (window?.isBlocked) throw tooManyRequests(window, limitOf(declaration));
      if (scope !== 'any-key' && !actor.scopes.has(scope)) throw insufficientScope(scope);
      return { result: toolResult(await this.run(tool, call)) };
    } catch (thrown) {
      const error = toLoggedMcpError(thrown, requestId);
      const metadata = metadataOf(error.code, declaration, window);
      return { error, result: toolError(error, requestId, metadata) };
    }
  }

  private async count(tool: ToolDeclaration, { actor, onCounted }: ToolCall): Promise<RateWindow> {
    const window = await this.limits.count(limitOf(tool), actor);
    onCounted(window);
    return window;
  }

  private async run({ declaration, arguments: parser, run }: RegisteredTool, call: ToolCall) {
    const {
      id,
      dry_run: isDryRun = false,
      methodArguments,
      comparable,
      fields,
    } = await parser.parse(call);
    const actor = agentOf(call);
    if (declaration.effect === 'creates') {
      return this.idempotentCalls.run({ ...call, actor, comparable }, async (caller) => {
        return (await run(caller, ...methodArguments)) as object;
      });
    }
    if (!isDryRun) {
      const answer = (await run(actor, ...methodArguments)) as object;
      return declaration.isPage ? compactPage(answer as Page<object>, fields) : answer;
    }
    return this.database.dryRun(actor.organization, async (tenant) => {
      const dryRunActor = { ...actor, organization: { ...actor.organization, ...tenant } };
      const { resource: kind } = declaration;
      const record =
        id !== undefined && kind && (await this.resources.readUncounted(dryRunActor, kind, id));
      const answer = await run(dryRunActor, ...methodArguments);
      return { dry_run: true, would_answer: answer, ...(record && { record }) };
    });
  }
}

/** The actor of a call, with the key and the request for the events of changes. */
function agentOf({ actor, requestId }: ToolCall): Actor {
  const origin = { keyId: actor.key.id, channel: 'ai', requestId } as const;
  return { ...actor, channel: 'ai', organization: { ...actor.organization, origin } };
}

function limitOf({ effect }: ToolDeclaration): 'reads' | 'writes' {
  return effect === 'reads' ? 'reads' : 'writes';
}

function metadataOf(
  code: string,
  { scope }: ToolDeclaration,
  window: RateWindow | undefined,
): Record<string, unknown> {
  if (code === 'insufficient_scope') return { required_scope: scope };
  if (code !== 'rate_limit_exceeded' || !window) return {};
  const { timeToBlockExpire, endsAt } = window;
  return { retry_after_seconds: timeToBlockExpire, resets_at: new Date(endsAt).toISOString() };
}
