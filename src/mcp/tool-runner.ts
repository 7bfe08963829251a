import { Injectable } from '@nestjs/common';
import { lacksScope } from '../auth/access.js';
import { type ApiError, validationError } from '../errors/api-error.js';
import { explained } from '../errors/error.filter.js';
import type { ErrorCode } from '../errors/error-catalogue.js';
import type { FieldProblem } from '../errors/field-problem.js';
import { IdDto } from '../fields/id.dto.js';
import { readInput } from '../fields/read-input.js';
import { readParameters } from '../fields/read-parameters.js';
import type { RateWindow } from '../rate-limit/rate-limit.storage.js';
import { RateLimits, tooManyRequests } from '../rate-limit/rate-limits.js';
import type { Actor } from '../tenancy/actor.js';
import type { ToolDeclaration } from './tool.decorator.js';
import { ToolRegistry } from './tool-registry.js';
import { toolError, type ToolResult, toolResult } from './tool-result.js';

/** A call of a tool, as it was asked for. */
export interface ToolCall {
  readonly actor: Actor;
  readonly requestId: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
  /** What is wrong already with the arguments, as they stood in the request. */
  readonly unread: readonly FieldProblem[];
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
  ) {}

  /** @returns undefined where there is no such tool */
  async call(call: ToolCall): Promise<ToolOutcome | undefined> {
    const tool = this.registry.find(call.name);
    if (!tool) return undefined;
    const { declaration, run } = tool;
    const { actor, requestId } = call;
    const isRead = declaration.effect === 'reads';
    const limit = await this.limits.count(isRead ? 'reads' : 'writes', actor.key.id);
    try {
      if (limit.isBlocked) throw tooManyRequests(limit);
      if (!actor.scopes.has(declaration.scope)) throw lacksScope(declaration.scope);
      const value = await run({ ...actor, channel: 'ai' }, ...argumentsOf(declaration, call));
      return { limit, result: toolResult(value as object) };
    } catch (thrown) {
      const error = explained(thrown, requestId);
      const facts = factsOf(error.code, declaration, limit);
      return { limit, error, result: toolError(error, requestId, facts) };
    }
  }
}

/** @throws ApiError `validation_error` that names every failing argument */
function argumentsOf(
  { id, input, effect }: ToolDeclaration,
  { args, unread }: ToolCall,
): unknown[] {
  const { id: givenId, ...others } = args;
  const ofId = unread.filter(({ field }) => field === 'id');
  const ofOthers = unread.filter(({ field }) => field !== 'id');
  const takesId = id !== undefined;
  const named = takesId && readInput(IdDto, 'id' in args ? { id: givenId } : {}, ofId);
  const read = effect === 'reads' ? readParameters : readInput;
  const rest = read<object>(input ?? NoArguments, takesId ? others : args, ofOthers);
  const problems = [...(named ? named.problems : ofId), ...rest.problems];
  if (problems.length > 0) throw validationError(problems);
  return [...(named ? [named.value.id] : []), ...(input ? [rest.value] : [])];
}

/** The arguments of a tool that takes none, or the id alone. */
class NoArguments {}

function factsOf(
  code: ErrorCode,
  { scope }: ToolDeclaration,
  { timeToBlockExpire, endsAt }: RateWindow,
): Record<string, unknown> {
  if (code === 'insufficient_scope') return { required_scope: scope };
  if (code !== 'rate_limit_exceeded') return {};
  return { retry_after_seconds: timeToBlockExpire, resets_at: new Date(endsAt).toISOString() };
}
