import { SetMetadata } from '@nestjs/common';
import type { Scope } from '../../auth/scopes.js';
import type { HandlerDecorator } from '../../fields/answers.js';

/** The kind of record whose ids a method completes, by the name of its resource. */
export interface CompletionDeclaration {
  readonly name: string;
  /** What the key needs; without it nothing is found. */
  readonly scope: Scope;
}

/** The protocol allows no more values. */
export const MAX_COMPLETIONS = 100;

/** Records that a caller may mean. */
export interface CompletionMatches {
  /** The likeliest first. */
  readonly matches: readonly CompletionMatch[];
  /** Whether there are, or may be, more than these. */
  readonly hasMore: boolean;
  /** How many there are, where that is known. */
  readonly total?: number;
}

export interface CompletionMatch {
  readonly id: string;
  /** What a person knows it by. */
  readonly label: string;
}

export const COMPLETION = Symbol('completion');

/** The method finds records by what was typed of them: it is called with the `Actor` and that. */
export function Completion(
  declaration: CompletionDeclaration,
): HandlerDecorator<CompletionMatches> {
  return SetMetadata<symbol, CompletionDeclaration>(COMPLETION, declaration);
}
