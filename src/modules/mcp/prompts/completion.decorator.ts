import { SetMetadata } from '@nestjs/common';
import type { Scope } from '../../../platform/access/scopes.js';
import type { HandlerDecorator } from '../../../platform/discovery/handler-decorator.js';

/** The kind of record whose ids a method completes. */
export interface CompletionDeclaration {
  /** The name of the resource. */
  readonly name: string;
  /** The scope that the key needs. Without it nothing is found. */
  readonly scope: Scope;
}

/** The limit of the protocol. */
export const MAX_COMPLETIONS = 100;

/** The records that match the typed characters. */
export interface CompletionMatches {
  /** The best match first. */
  readonly matches: readonly CompletionMatch[];
  /** Whether there are, or may be, more matches. */
  readonly hasMore: boolean;
  /** The number of all matches, if known. */
  readonly total?: number;
}

export interface CompletionMatch {
  readonly id: string;
  /** The name of the record for people. */
  readonly label: string;
}

export const COMPLETION = Symbol('completion');

/** Marks a method that finds records. It is called with the `Call` and the characters typed so far. */
export function Completion(
  declaration: CompletionDeclaration,
): HandlerDecorator<CompletionMatches> {
  return SetMetadata<symbol, CompletionDeclaration>(COMPLETION, declaration);
}
