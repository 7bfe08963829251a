import { SetMetadata, type Type } from '@nestjs/common';
import type { Scope } from '../../auth/scopes.js';
import type { HandlerDecorator } from '../../fields/answers.js';

/** What a prompt is, as the provider that has it declares it. */
export interface PromptOptions {
  /** A few words for people. */
  readonly title: string;
  /** What it asks of the agent, for people. */
  readonly description: string;
  /** All that the key needs; without them the prompt is not listed. */
  readonly scopes: readonly Scope[];
  /** The arguments, which clients send as text. */
  readonly input: Type<object>;
}

/** A declared prompt. */
export interface PromptDeclaration extends PromptOptions {
  readonly name: string;
}

/** A record that the agent is to know, by the kind under which it can be read as a resource. */
export interface PromptRecord {
  readonly kind: string;
  readonly record: { readonly id: string };
}

/** What a prompt says: words of ours, and records, which stay apart from them. */
export type PromptPart = string | PromptRecord;

export const PROMPT = Symbol('prompt');

/** The method makes a prompt: it is called with the `Actor` and the DTO of the arguments. */
export function Prompt(
  name: string,
  options: PromptOptions,
): HandlerDecorator<readonly PromptPart[]> {
  return SetMetadata<symbol, PromptDeclaration>(PROMPT, { name, ...options });
}
