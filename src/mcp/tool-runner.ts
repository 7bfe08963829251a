import { Injectable } from '@nestjs/common';
import { lacksScope } from '../auth/access.js';
import { TenantDatabase } from '../database/tenant-database.js';
import type { ApiError } from '../errors/api-error.js';
import { explained } from '../errors/error.filter.js';
import type { ErrorCode } from '../errors/error-catalogue.js';
import type { RateWindow } from '../rate-limit/rate-limit.storage.js';
import { RateLimits, tooManyRequests } from '../rate-limit/rate-limits.js';
import type { Actor } from '../tenancy/actor.js';
import type { DeclaredMethod } from './declared-methods.js';
import { Resources } from './resources.js';
import type { ToolDeclaration } from './tool.decorator.js';
import { type GivenArguments, readArguments } from './tool-arguments.js';
import { ToolRegistry } from './tool-registry.js';
import { toolError, type ToolResult, toolResult } from './tool-result.js';

/** A call of a tool, as it was asked for. */
export interface ToolCall extends GivenArguments {
  readonly actor: Actor;
  readonly requestId: string;
  readonly name: string;
}

/** What became of a call. */
export interface ToolOutcome {
  readonly result: ToolResult;
  /** The window in which the call was counted. */
  readonly limit: RateWindow;
  readonly error?: ApiError;
}

/** Calls tools: the limit, the scope and the checks of REST, then the same service. */
@Injectable()
export class ToolRunner {
  constructor(
    private readonly registry: ToolRegistry,
    private readonly limits: RateLimits,
    private readonly database: TenantDatabase,
    private readonly resources: Resources,
  ) {}

  /** @returns undefined where there is no such tool */
  async call(call: ToolCall): Promise<ToolOutcome | undefined> {
    const tool = this.registry.find(call.name);
    if (!tool) return undefined;
    const { declaration } = tool;
    const { actor, requestId } = call;
    const isRead = declaration.effect === 'reads';
    const limit = await this.limits.count(isRead ? 'reads' : 'writes', actor.key.id);
    try {
      if (limit.isBlocked) throw tooManyRequests(limit);
      const { scope } = declaration;
      if (scope !== 'any-key' && !actor.scopes.has(scope)) throw lacksScope(scope);
      return { limit, result: toolResult(await this.run(tool, call)) };
    } catch (thrown) {
      const error = explained(thrown, requestId);
      const facts = factsOf(error.code, declaration, limit);
      return { limit, error, result: toolError(error, requestId, facts) };
    }
  }

  private async run({ declaration, run }: DeclaredMethod<ToolDeclaration>, call: ToolCall) {
    const { id, dry_run: isDryRun = false, passed } = readArguments(declaration, call);
    const actor: Actor = { ...call.actor, channel: 'ai' };
    if (!isDryRun) return (await run(actor, ...passed)) as object;
    return this.database.rehearse(actor.organization, async (tenant) => {
      const inside = { ...actor, organization: { ...actor.organization, ...tenant } };
      const { resource: kind } = declaration;
      const record = id !== undefined && kind && (await this.resources.recordFor(inside, kind, id));
      const answer = await run(inside, ...passed);
      return { dry_run: true, would_answer: answer, ...(record && { record }) };
    });
  }
}

function factsOf(
  code: ErrorCode,
  { scope }: ToolDeclaration,
  { timeToBlockExpire, endsAt }: RateWindow,
): Record<string, unknown> {
  if (code === 'insufficient_scope') return { required_scope: scope };
  if (code !== 'rate_limit_exceeded') return {};
  return { retry_after_seconds: timeToBlockExpire, resets_at: new Date(endsAt).toISOString() };
}
