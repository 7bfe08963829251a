import { SetMetadata, type Type } from '@nestjs/common';
import type { Scope } from '../../../platform/access/scopes.js';
import type { HandlerDecorator } from '../../../platform/discovery/handler-decorator.js';
import type { Page } from '../../../platform/data/lists/page.js';
import type { Previewed } from './previewed.js';

/**
 * What a tool does to records. It decides the rate limit and the hints of the tool. A tool that `deletes`, cancels or
 * otherwise ends records takes `dry_run` and an idempotency key, and asks the user if the key or the grant says so.
 */
export type Effect = 'reads' | 'creates' | 'updates' | 'deletes';

export interface ToolOptions {
  /** A short name for people. */
  readonly title: string;
  /** What the tool does and when to use it, for the agent. */
  readonly description: string;
  readonly effect: Effect;
  /** The scope that the key needs. Without it the tool is not listed. `any-key` requires no scope. */
  readonly scope: Scope | 'any-key';
  /** Scopes that the key needs as well. */
  readonly scopes?: readonly Scope[];
  /** Scopes of which the key needs at least one. */
  readonly someScope?: readonly Scope[];
  /** The description of the argument `id`, for a tool that takes one. */
  readonly id?: string;
  /**
   * The name of the resource with the argument `id`. A dry run returns it to keys that may read it. A user who is asked sees
   * it, and is asked again if it has changed.
   */
  readonly resource?: string;
  /** The DTO of the other arguments. */
  readonly input?: Type<object>;
  /**
   * The fields that items of a page contain. Callers can request more with the argument `fields`. If not
   * set, items contain all fields.
   */
  readonly summary?: readonly string[];
  /** The DTO of whole records, for a page whose items have only some of their fields. */
  readonly record?: Type<object>;
  /**
   * Makes its schemas shorter. The list of tools is part of each prompt, and other tools describe the same fields.
   */
  readonly brief?: {
    /** The arguments whose inner fields have no descriptions and no values: those of another tool. */
    readonly arguments?: readonly string[];
    /** The arguments that are objects with any fields. */
    readonly objects?: readonly string[];
    /** The only fields of the result that its schema names. */
    readonly result?: readonly string[];
  };
  /** Whether it takes `dry_run`. A tool that `deletes` does. */
  readonly takesDryRun?: true;
  /** As how many writes a call counts. Default: one. */
  readonly writesOf?: (input: never) => number;
  /** Calls count as messages and not as reads or writes. */
  readonly isUnmetered?: true;
}

export interface ToolDeclaration extends ToolOptions {
  readonly name: string;
  readonly output: Type<object>;
  readonly isPage: boolean;
}

/** Whether calls of a tool can be dry runs. */
export function takesDryRun({ effect, takesDryRun: isDeclared }: ToolOptions): boolean {
  return effect === 'deletes' || isDeclared === true;
}

export const TOOL = Symbol('tool');

/**
 * Marks a method as a tool of /mcp. It is called with the `Call`, the `id` if the tool takes one,
 * and the validated DTO of the other arguments. It returns a record of type `output`, or a page of
 * them when `output` is an array. A tool that takes `dry_run` can return `Previewed`. For a page with a `summary`, the last argument has the names of the fields to return.
 */
export function Tool<T extends object>(
  name: string,
  options: ToolOptions & { output: Type<T> },
): HandlerDecorator<T | Previewed<T>>;
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
