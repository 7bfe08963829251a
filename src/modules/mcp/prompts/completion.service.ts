import { Injectable, type OnModuleInit } from '@nestjs/common';
import { fieldsOf, type Field } from '../../../platform/fields/field.js';
import type { Call } from '../../../platform/data/call.js';
import {
  COMPLETION,
  type CompletionDeclaration,
  type CompletionMatch,
  type CompletionMatches,
  MAX_COMPLETIONS,
} from './completion.decorator.js';
import type { DecoratedMethod } from '../../../platform/discovery/decorated-methods.js';
import { MethodDiscovery } from '../method-discovery.js';
import { extractId, recordKindOf, formatLabelledId } from './labelled-id.js';
import { PromptRegistry } from './prompt-registry.js';
import { ResourceRegistry } from '../resources/resource-registry.js';

/** The prompt or resource template whose argument is completed. */
export type CompletionReference =
  | { readonly type: 'ref/prompt'; readonly name: string }
  | { readonly type: 'ref/resource'; readonly uri: string };

/** An argument with the characters typed so far. */
export interface CompletionArgument {
  readonly name: string;
  readonly value: string;
}

/** The result of `completion/complete`. */
export interface CompletionResult {
  readonly values: readonly string[];
  readonly hasMore: boolean;
  readonly total?: number;
}

const SUGGESTED_DAYS = 14;
const DAY_MS = 86_400_000;

/** Completes the arguments of prompts and the ids in resource URIs. */
@Injectable()
export class CompletionService implements OnModuleInit {
  private methodsByKind: ReadonlyMap<string, DecoratedMethod<CompletionDeclaration>> = new Map();

  constructor(
    private readonly methods: MethodDiscovery,
    private readonly prompts: PromptRegistry,
    private readonly resources: ResourceRegistry,
  ) {}

  /** @throws Error when two methods complete the same kind */
  onModuleInit(): void {
    this.methodsByKind = this.methods.byName<CompletionDeclaration>(COMPLETION);
  }

  /**
   * @returns undefined when there is no such prompt, template or argument
   * @throws ApiError `insufficient_scope`, `query_failed`
   */
  async complete(
    call: Call,
    reference: CompletionReference,
    { name, value }: CompletionArgument,
  ): Promise<CompletionResult | undefined> {
    if (reference.type === 'ref/resource') {
      const kind = this.resources.kindOf(call, reference.uri);
      return kind && name === 'id'
        ? this.completeIds(call, kind.name, value, ({ id }) => id)
        : undefined;
    }
    const input = this.prompts.find(call, reference.name)?.declaration.input;
    const field = input && fieldsOf(input).find((candidate) => candidate.name === name);
    if (!field) return undefined;
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
  ): Promise<CompletionResult> {
    const method = this.methodsByKind.get(kind);
    if (!method || !call.actor.scopes.has(method.declaration.scope))
      return { values: [], hasMore: false };
    const { matches, hasMore, ...known } = (await method.run(
      call,
      extractId(typed),
    )) as CompletionMatches;
    const values = [...new Map(matches.map((match) => [match.id, write(match)])).values()];
    return {
      values: values.slice(0, MAX_COMPLETIONS),
      hasMore: hasMore || values.length > MAX_COMPLETIONS,
      ...known,
    };
  }
}

/** Completes the values of an enum, or the next days for a date. */
function completeValue({ schema }: Field, typed: string): CompletionResult {
  const values = schema.format === 'date-time' ? nextDays() : (schema.enum ?? []).map(String);
  return { values: values.filter((value) => value.startsWith(typed)), hasMore: false };
}

function nextDays(): string[] {
  const dayAfter = (days: number) =>
    new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
  return Array.from({ length: SUGGESTED_DAYS }, (_, days) => dayAfter(days));
}
