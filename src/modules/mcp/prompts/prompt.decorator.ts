import { SetMetadata, type Type } from '@nestjs/common';
import type { Scope } from '../../../platform/access/scopes.js';
import type { HandlerDecorator } from '../../../platform/discovery/handler-decorator.js';

export interface PromptOptions {
  /** A short name for people. */
  readonly title: string;
  /** What the prompt asks of the agent, for people. */
  readonly description: string;
  /** The scopes that the key needs. Without all of them the prompt is not listed. */
  readonly scopes: readonly Scope[];
  /** The arguments, which clients send as strings. */
  readonly input: Type<object>;
}

export interface PromptDeclaration extends PromptOptions {
  readonly name: string;
}

/** A record that is attached to a prompt. */
export interface PromptRecord {
  /** The name of the resource. */
  readonly kind: string;
  readonly record: { readonly id: string };
}

/** A string or a record. Records are separate messages, so that their content is not read as instructions. */
export type PromptPart = string | PromptRecord;

export const PROMPT = Symbol('prompt');

/** Marks a method that builds a prompt. It is called with the `Call` and the DTO of the arguments. */
export function Prompt(
  name: string,
  options: PromptOptions,
): HandlerDecorator<readonly PromptPart[]> {
  return SetMetadata<symbol, PromptDeclaration>(PROMPT, { name, ...options });
}
