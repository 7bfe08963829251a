import type { Type } from '@nestjs/common';
import { validationError } from '../../../platform/errors/api-error.js';
import type { FieldProblem } from '../../../platform/errors/field-problem.js';
import { fieldsOf, namesOf, scopesOfValues } from '../../../platform/fields/field.js';
import { isObject } from '../../../platform/fields/kinds/json-object.js';
import {
  hasPlainProperties,
  isReadable,
  propertiesOf,
} from '../../../platform/fields/validation/properties.js';
import { readClass } from '../../../platform/nest/read-class.js';
import {
  type Input,
  mergeProblems,
  type ProblemWording,
  readInput,
} from '../../../platform/fields/input/read-input.js';
import type { MaybePromise } from '../../../platform/maybe-promise.js';
import { type BuiltInArguments, builtInArgumentsOf, CLEAR, DRY_RUN } from './built-in-arguments.js';
import type { ToolDeclaration } from './tool.decorator.js';

/** The validated arguments of a call. */
export interface ParsedArguments extends BuiltInArguments {
  /** The arguments that follow the `Call` in a call of the tool's method. */
  readonly methodArguments: readonly unknown[];
  /** The scopes that they need, beside those of the tool. */
  readonly scopes: readonly string[];
  /** The arguments as JSON values. A retry with the same idempotency key must have equal ones. */
  readonly comparable: unknown;
}

type Values = Readonly<Record<string, unknown>>;

class NoArguments {}

/**
 * The arguments of one tool: the built-in ones, and those of its `input`.
 *
 * A null argument counts as missing, because strict function calling makes every argument required
 * and a model cannot omit one. Only `clear` empties fields.
 */
export class ToolArguments {
  readonly builtIn: Type<BuiltInArguments>;
  readonly input: Type<object>;
  private readonly builtInNames: ReadonlySet<string>;
  private readonly names: ReadonlySet<string>;
  /** The names of the arguments that are objects with fields. */
  private readonly nested: ReadonlySet<string>;
  private readonly scopesOf: ReturnType<typeof scopesOfValues>;
  private readonly wording: ProblemWording;

  /** @throws Error when `input` declares no property, or a built-in argument */
  constructor(readonly tool: ToolDeclaration) {
    if (tool.input && !isReadable(tool.input)) {
      throw new Error(
        `The tool ${tool.name} takes ${tool.input.name}, which declares no property to read. Declare its properties with fields such as @Text() or rules such as @IsString(), or remove the input.`,
      );
    }
    this.builtIn = builtInArgumentsOf(tool);
    this.input = tool.input ?? NoArguments;
    this.builtInNames = new Set(namesOf(this.builtIn));
    const ofInput = propertiesOf(this.input);
    const conflict = ofInput.find((name) => this.builtInNames.has(name));
    if (conflict !== undefined) {
      throw new Error(`The input of the tool ${tool.name} must not declare ${conflict}`);
    }
    this.names = new Set([...this.builtInNames, ...ofInput]);
    const nested = fieldsOf(this.input).filter(({ schema }) => schema.properties !== undefined);
    this.nested = new Set(nested.map(({ name }) => name));
    this.scopesOf = scopesOfValues(this.input);
    const all = [...this.names].join(', ');
    const listKnown = () => (all ? `the parameters are ${all}` : 'there are no parameters');
    this.wording = { whole: 'body', unknown: 'is unknown or cannot be set', listKnown };
  }

  /**
   * @param parseProblems those that the JSON parser has found in the arguments, such as duplicate keys
   * @throws ApiError `validation_error` that names every failing argument
   */
  async parse(args: Values, parseProblems: readonly FieldProblem[]): Promise<ParsedArguments> {
    const given = Object.entries(this.withoutNulls(args));
    const isBuiltIn = ([name]: readonly [string, unknown]) => this.builtInNames.has(name);
    const values = Object.fromEntries(given.filter((entry) => !isBuiltIn(entry)));
    const problemsOf = (ofBuiltIn: boolean) =>
      parseProblems.filter(({ field }) => this.builtInNames.has(field) === ofBuiltIn);
    const builtInValues = Object.fromEntries(given.filter(isBuiltIn));
    const builtIn = readInput(this.builtIn, builtInValues, problemsOf(true));
    const input = await this.readInput(values, problemsOf(false), clearedBy(builtIn));
    const problems = [...builtIn.problems, ...input.problems];
    if (problems.length > 0) throw validationError(problems);
    const { id } = builtIn.value;
    const methodArguments = [
      ...(id === undefined ? [] : [id]),
      ...(this.tool.input ? [input.value] : []),
    ];
    // A DTO of fields serializes to what was sent, normalized. A class with rules of class-validator may not: a Set in it
    // serializes to {}. So its values are compared as they were sent.
    const comparable = hasPlainProperties(this.input) ? values : methodArguments;
    const scopes = this.scopesOf?.(input.value) ?? [];
    return { ...builtIn.value, methodArguments, scopes, comparable };
  }

  /**
   * Validates the arguments of the `input`. A class with rules of class-validator is validated by them. Other classes are
   * read by their fields: the filters of a search as the parameters of a list, others as a JSON body.
   * @param cleared the fields to empty. Updates empty a field by null.
   */
  private readInput(
    values: Values,
    unread: readonly FieldProblem[],
    cleared: readonly string[],
  ): MaybePromise<Input<object>> {
    const { input, wording } = this;
    const conflicts = cleared
      .filter((name) => Object.hasOwn(values, name))
      .map((field) => ({ field, message: `must not be both given and named in ${CLEAR}` }));
    const given = { ...Object.fromEntries(cleared.map((name) => [name, null])), ...values };
    const problems = mergeProblems(unread, conflicts);
    if (hasPlainProperties(input)) return readClass(input, given, problems, { wording });
    const ignoresEmpty = this.tool.effect === 'reads';
    return readInput(input, given, problems, { wording, ignoresEmpty });
  }

  /**
   * Removes null arguments, also inside arguments that consist of fields. A null `dry_run` becomes true: a tool
   * deletes only when `dry_run` is false or missing.
   */
  private withoutNulls(args: Values): Values {
    const isPresent = ([name, value]: [string, unknown]) => value !== null || !this.names.has(name);
    const entries = Object.entries(args).filter(isPresent);
    const present = Object.fromEntries(
      entries.map(([name, value]) => [name, this.nested.has(name) ? nullsRemoved(value) : value]),
    );
    const isNullDryRun = args[DRY_RUN] === null && this.builtInNames.has(DRY_RUN);
    return isNullDryRun ? { ...present, [DRY_RUN]: true } : present;
  }
}

/** The distinct fields that a valid `clear` names. */
function clearedBy({ value: { clear }, problems }: Input<BuiltInArguments>): readonly string[] {
  return problems.some(({ field }) => field === CLEAR) ? [] : [...new Set(clear)];
}

/** Removes the values of an object that are null. */
export function nullsRemoved(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== null));
}
