import { Injectable } from '@nestjs/common';
import { lacksScope } from '../../auth/access.js';
import { TenantDatabase } from '../../database/gateway/tenant-database.js';
import type { ApiError } from '../../errors/api-error.js';
import { toLoggedApiError } from '../../http/error.filter.js';
import type { ErrorCode } from '../../errors/error-catalogue.js';
import type { RateWindow } from '../../rate-limit/rate-limit.storage.js';
import { RateLimits, tooManyRequests } from '../../rate-limit/rate-limits.js';
import type { Actor } from '../../tenancy/actor.js';
import { MCP_ROUTE } from '../protocol/headers.js';
import { ResourceRegistry } from '../resources/resource-registry.js';
import type { ToolDeclaration } from './tool.decorator.js';
import type { RawArguments } from './tool-arguments.js';
import { type RegisteredTool, ToolRegistry } from './tool-registry.js';
import { toolError, type ToolResult, toolResult } from './tool-result.js';

/** A call of a tool, as it was asked for. */
export interface ToolCall extends RawArguments {
  readonly actor: Actor;
  readonly requestId: string;
  readonly name: string;
  /** Is told the window in which the call is counted, before the call runs. */
  readonly onCounted: (window: RateWindow) => void;
}

/** What became of a call. */
export interface ToolOutcome {
  readonly result: ToolResult;
  readonly error?: ApiError;
}

/** Calls tools: the limit, the scope and the checks of REST, then the same service. */
@Injectable()
export class ToolRunner {
  constructor(
    private readonly registry: ToolRegistry,
    private readonly limits: RateLimits,
    private readonly database: TenantDatabase,
    private readonly resources: ResourceRegistry,
  ) {}

  /** @returns undefined where there is no such tool */
  async call(call: ToolCall): Promise<ToolOutcome | undefined> {
    const tool = this.registry.find(call.name);
    if (!tool) return undefined;
    const { declaration } = tool;
    const { actor, requestId } = call;
    const { scope, isUnmetered } = declaration;
    const window = isUnmetered ? undefined : await this.count(declaration, call);
    try {
      if (window?.isBlocked) throw tooManyRequests(window, limitOf(declaration));
      if (scope !== 'any-key' && !actor.scopes.has(scope)) throw lacksScope(scope);
      return { result: toolResult(await this.run(tool, call)) };
    } catch (thrown) {
      const error = toLoggedApiError(thrown, requestId, MCP_ROUTE);
      const facts = factsOf(error.code, declaration, window);
      return { error, result: toolError(error, requestId, facts) };
    }
  }

  private async count(tool: ToolDeclaration, { actor, onCounted }: ToolCall): Promise<RateWindow> {
    const window = await this.limits.count(limitOf(tool), actor.key.id);
    onCounted(window);
    return window;
  }

  private async run({ declaration, arguments: taken, run }: RegisteredTool, call: ToolCall) {
    const { id, dry_run: isDryRun = false, methodArguments } = taken.parse(call);
    const actor: Actor = { ...call.actor, channel: 'ai' };
    if (!isDryRun) return (await run(actor, ...methodArguments)) as object;
    return this.database.dryRun(actor.organization, async (tenant) => {
      const inside = { ...actor, organization: { ...actor.organization, ...tenant } };
      const { resource: kind } = declaration;
      const record =
        id !== undefined && kind && (await this.resources.readUncounted(inside, kind, id));
      const answer = await run(inside, ...methodArguments);
      return { dry_run: true, would_answer: answer, ...(record && { record }) };
    });
  }
}

function limitOf({ effect }: ToolDeclaration): 'reads' | 'writes' {
  return effect === 'reads' ? 'reads' : 'writes';
}

function factsOf(
  code: ErrorCode,
  { scope }: ToolDeclaration,
  window: RateWindow | undefined,
): Record<string, unknown> {
  if (code === 'insufficient_scope') return { required_scope: scope };
  if (code !== 'rate_limit_exceeded' || !window) return {};
  const { timeToBlockExpire, endsAt } = window;
  return { retry_after_seconds: timeToBlockExpire, resets_at: new Date(endsAt).toISOString() };
}
