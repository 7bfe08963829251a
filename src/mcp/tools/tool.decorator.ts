import { SetMetadata, type Type } from '@nestjs/common';
import type { Scope } from '../../auth/scopes.js';
import type { HandlerDecorator } from '../../fields/answers.js';
import type { Page } from '../../listing/page.js';

/**
 * What a tool does to the records of the organization; its limit and its hints follow from it, and
 * that one which `deletes` takes `dry_run`.
 */
export type Effect = 'reads' | 'creates' | 'updates' | 'deletes';

/** What a tool is, as the provider that has it declares it. */
export interface ToolOptions {
  /** A few words for people. */
  readonly title: string;
  /** What it does and when to use it, for the agent. */
  readonly description: string;
  readonly effect: Effect;
  /** What the key needs, without which the tool is not listed; `any-key` where that is nothing. */
  readonly scope: Scope | 'any-key';
  /** What the argument `id` names, where the tool is about one record. */
  readonly id?: string;
  /** The kind of resource that this is, which a dry run shows to whoever may read it. */
  readonly resource?: string;
  /** The other arguments. */
  readonly input?: Type<object>;
  /** A call counts as any message of /mcp does, and not as a read or a write. */
  readonly isUnmetered?: true;
}

/** A declared tool. */
export interface ToolDeclaration extends ToolOptions {
  readonly name: string;
  readonly output: Type<object>;
  readonly isPage: boolean;
}

export const TOOL = Symbol('tool');

/**
 * The method is a tool of /mcp. It is called with the `Actor`, then the `id` where the tool takes
 * one, then the DTO of its other arguments, checked as REST checks it; it returns a record of
 * `output` or, where that stands in brackets, a page of them.
 */
export function Tool<T extends object>(
  name: string,
  options: ToolOptions & { output: Type<T> },
): HandlerDecorator<T>;
export function Tool<T extends object>(
  name: string,
  options: ToolOptions & { output: readonly [Type<T>] },
): HandlerDecorator<Page<T>>;
export function Tool(
  name: string,
  options: ToolOptions & { output: Type<object> | readonly [Type<object>] },
): HandlerDecorator<unknown> {
  const isPage = Array.isArray(options.output);
  const [output] = [options.output].flat() as [Type<object>];
  return SetMetadata<symbol, ToolDeclaration>(TOOL, { ...options, name, output, isPage });
}
