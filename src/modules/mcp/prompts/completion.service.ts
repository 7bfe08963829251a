import type { CompleteRequest, CompleteResult } from '@modelcontextprotocol/server';
import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { fieldsOf, type Field } from '../../../platform/fields/field.js';
import type { Call } from '../../../platform/data/call.js';
import {
  COMPLETION,
  type CompletionDeclaration,
  type CompletionMatch,
  type CompletionMatches,
  MAX_COMPLETIONS,
} from './completion.decorator.js';
import { DeclaredMethods, missingScopeOf } from '../declared-methods.js';
import { unknownName } from '../rpc-error.js';
import { extractId, recordKindOf, formatLabelledId } from './labelled-id.js';
import { PromptRegistry } from './prompt-registry.js';
import { ResourceRegistry } from '../resources/resource-registry.js';

type Completion = CompleteResult['completion'];

const ARGUMENT = 'argument or reference';

const SUGGESTED_DAYS = 14;
const DAY_MS = 86_400_000;

/** Completes the arguments of prompts and the ids in resource URIs. */
@Injectable()
export class CompletionService extends DeclaredMethods<CompletionDeclaration> {
  protected readonly metadata = COMPLETION;

  constructor(
    discovery: DiscoveryService,
    private readonly prompts: PromptRegistry,
    private readonly resources: ResourceRegistry,
  ) {
    super(discovery);
  }

  /**
   * @throws RpcError when there is no such prompt, template or argument
   * @throws ApiError `insufficient_scope`, `query_failed`
   */
  async complete(
    call: Call,
    { ref, argument: { name, value } }: CompleteRequest['params'],
  ): Promise<Completion> {
    if (ref.type === 'ref/resource') {
      const kind = this.resources.kindOf(call, ref.uri);
      if (kind === undefined || name !== 'id') throw unknownName(ARGUMENT, name);
      return this.completeIds(call, kind, value, ({ id }) => id);
    }
    const input = this.prompts.findFor(call, ref.name)?.declaration.input;
    const field = input && fieldsOf(input).find((candidate) => candidate.name === name);
    if (!field) throw unknownName(ARGUMENT, name);
    const kind = recordKindOf(input, name);
    return kind === undefined
      ? completeValue(field, value)
      : this.completeIds(call, kind, value, formatLabelledId);
  }

  private async completeIds(
    call: Call,
    kind: string,
    typed: string,
    write: (match: CompletionMatch) => string,
  ): Promise<Completion> {
    const method = this.methods.get(kind);
    if (!method || missingScopeOf(method.declaration, call.actor.scopes)) {
      return { values: [], hasMore: false };
    }
    const found = (await method.run(call, extractId(typed))) as CompletionMatches;
    const { matches, hasMore, ...known } = found;
    const values = [...new Map(matches.map((match) => [match.id, write(match)])).values()];
    return {
      values: values.slice(0, MAX_COMPLETIONS),
      hasMore: hasMore || values.length > MAX_COMPLETIONS,
      ...known,
    };
  }
}

/** Completes the values of an enum, or the next days for a date. */
function completeValue({ schema }: Field, typed: string): Completion {
  const values = schema.format === 'date-time' ? nextDays() : (schema.enum ?? []).map(String);
  return { values: values.filter((value) => value.startsWith(typed)), hasMore: false };
}

function nextDays(): string[] {
  const dayAfter = (days: number) =>
    new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
  return Array.from({ length: SUGGESTED_DAYS }, (_, days) => dayAfter(days));
}
