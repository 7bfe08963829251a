import { Injectable, type OnModuleInit } from '@nestjs/common';
import { fieldsOf, type Field } from '../../fields/field.js';
import type { Actor } from '../../tenancy/actor.js';
import {
  COMPLETION,
  type CompletionDeclaration,
  type Match,
  type Matches,
  MOST_VALUES,
} from './completion.decorator.js';
import { type DeclaredMethod, DeclaredMethods } from '../protocol/declared-methods.js';
import { idIn, kindOf, labelled } from './labelled-id.js';
import { Prompts } from './prompts.js';
import { Resources } from '../resources/resources.js';

/** What is to be completed. */
export type Reference =
  | { readonly type: 'ref/prompt'; readonly name: string }
  | { readonly type: 'ref/resource'; readonly uri: string };

/** An argument as far as it was typed. */
export interface TypedArgument {
  readonly name: string;
  readonly value: string;
}

/** What `completion/complete` answers. */
export interface CompletionValues {
  readonly values: readonly string[];
  readonly hasMore: boolean;
  readonly total?: number;
}

const COMING_DAYS = 14;
const DAY_MS = 86_400_000;

/** Completes the arguments of prompts, and the ids in the addresses of resources. */
@Injectable()
export class Completions implements OnModuleInit {
  private kinds: ReadonlyMap<string, DeclaredMethod<CompletionDeclaration>> = new Map();

  constructor(
    private readonly methods: DeclaredMethods,
    private readonly prompts: Prompts,
    private readonly resources: Resources,
  ) {}

  /** @throws Error where two methods complete one kind */
  onModuleInit(): void {
    this.kinds = this.methods.byName<CompletionDeclaration>(COMPLETION);
  }

  /**
   * @returns undefined where there is no such prompt, template or argument
   * @throws ApiError `insufficient_scope`, `query_failed`
   */
  async complete(
    actor: Actor,
    reference: Reference,
    { name, value }: TypedArgument,
  ): Promise<CompletionValues | undefined> {
    if (reference.type === 'ref/resource') {
      const kind = this.resources.kindOf(actor, reference.uri);
      return kind && name === 'id'
        ? this.records(actor, kind.name, value, ({ id }) => id)
        : undefined;
    }
    const input = this.prompts.find(actor, reference.name)?.declaration.input;
    const field = input && fieldsOf(input).find((candidate) => candidate.name === name);
    if (!field) return undefined;
    const kind = kindOf(input, name);
    return kind === undefined ? wordsFor(field, value) : this.records(actor, kind, value, labelled);
  }

  private async records(
    actor: Actor,
    kind: string,
    typed: string,
    write: (match: Match) => string,
  ): Promise<CompletionValues> {
    const method = this.kinds.get(kind);
    if (!method || !actor.scopes.has(method.declaration.scope))
      return { values: [], hasMore: false };
    const { found, hasMore, ...known } = (await method.run(actor, idIn(typed))) as Matches;
    const values = [...new Map(found.map((match) => [match.id, write(match)])).values()];
    return {
      values: values.slice(0, MOST_VALUES),
      hasMore: hasMore || values.length > MOST_VALUES,
      ...known,
    };
  }
}

/** What a field takes of itself: its words, and of days those to come. */
function wordsFor({ schema }: Field, typed: string): CompletionValues {
  const words = schema.format === 'date-time' ? comingDays() : (schema.enum ?? []).map(String);
  return { values: words.filter((word) => word.startsWith(typed)), hasMore: false };
}

function comingDays(): string[] {
  const dayAfter = (days: number) =>
    new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
  return Array.from({ length: COMING_DAYS }, (_, days) => dayAfter(days));
}
