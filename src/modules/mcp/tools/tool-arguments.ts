import type { Type } from '@nestjs/common';
import { validationError } from '../../../platform/errors/api-error.js';
import type { FieldProblem } from '../../../platform/errors/field-problem.js';
import { clearableFieldsOf, fieldsOf, namesOf } from '../../../platform/fields/field.js';
import { isObject } from '../../../platform/fields/kinds/json-object.js';
import { Flag, Uuid } from '../../../platform/fields/kinds/kinds.js';
import {
  hasPlainProperties,
  isReadable,
  propertiesOf,
  readIntoClass,
} from '../../../platform/fields/input/read-into-class.js';
import {
  type Input,
  type ProblemWording,
  readInput,
} from '../../../platform/fields/input/read-input.js';
import { readParameters } from '../../../platform/fields/input/read-parameters.js';
import { CLEAR, applyClear, problemOfNames } from './clear.js';
import { FIELDS } from './page-fields.js';
import type { MaybePromise } from '../../../platform/maybe-promise.js';
import { takesDryRun, type ToolDeclaration } from './tool.decorator.js';

/** The arguments of a call before validation. */
export interface RawArguments {
  readonly args: Readonly<Record<string, unknown>>;
  /** Problems that the JSON parser has found in the arguments, such as duplicate keys. */
  readonly parseProblems: readonly FieldProblem[];
}

/** The validated arguments of a call. */
export interface ParsedArguments extends BuiltInArguments {
  /** The arguments that follow the `Call` in a call of the tool's method. */
  readonly methodArguments: readonly unknown[];
  /** The value by which calls with the same idempotency key are compared. */
  readonly comparable: unknown;
  /** The fields of a page's items; undefined for all of them. */
  readonly fields?: readonly string[];
}

interface BuiltInArguments {
  readonly id?: string;
  readonly dry_run?: boolean;
}

type Values = Readonly<Record<string, unknown>>;

const DRY_RUN = 'dry_run';

class NoArguments {}

/**
 * The arguments of one tool: those of its `input`, and the built-in ones `id`, `dry_run`, `clear` and
 * `fields`.
 *
 * A null argument counts as missing, because strict function calling makes every argument required
 * and a model cannot omit one. Only `clear` empties fields.
 */
export class ToolArguments {
  /** The DTO of `id` and `dry_run`, as far as the tool takes them. */
  readonly builtIn: Type<BuiltInArguments>;
  readonly input: Type<object>;
  /** The fields that `clear` can name. The tool takes `clear` only if there are any. */
  readonly clearable: readonly string[];
  /** The arguments whose fields are listed without descriptions. */
  readonly brief: readonly string[];
  /** The arguments whose fields are not listed. */
  readonly open: readonly string[];
  /** The names that `fields` can add. The tool takes `fields` only if there are any. */
  readonly furtherFields: readonly string[];
  private readonly builtInNames: ReadonlySet<string>;
  private readonly names: ReadonlySet<string>;
  /** The names of the arguments that are objects with fields. */
  private readonly nested: ReadonlySet<string>;
  private readonly wording: ProblemWording;

  /** @throws Error when `input` declares no property, or a built-in argument */
  constructor(private readonly tool: ToolDeclaration) {
    this.builtIn = builtInArgumentsOf(tool);
    if (tool.input && !isReadable(tool.input)) {
      throw new Error(
        `The tool ${tool.name} takes ${tool.input.name}, which declares no property to read. Declare its properties with fields such as @Text() or rules such as @IsString(), or remove the input.`,
      );
    }
    this.input = tool.input ?? NoArguments;
    this.clearable = clearableFieldsOf(this.input);
    this.brief = tool.brief?.arguments ?? [];
    this.open = tool.brief?.objects ?? [];
    this.builtInNames = new Set(namesOf(this.builtIn));
    const { output, summary = namesOf(output) } = tool;
    this.furtherFields = namesOf(output).filter((name) => !summary.includes(name));
    const reserved = [
      ...this.builtInNames,
      ...(this.clearable.length > 0 ? [CLEAR] : []),
      ...(this.furtherFields.length > 0 ? [FIELDS] : []),
    ];
    const ofInput = propertiesOf(this.input);
    const conflict = ofInput.find((name) => reserved.includes(name));
    if (conflict !== undefined) {
      throw new Error(`The input of the tool ${tool.name} must not declare ${conflict}`);
    }
    this.names = new Set([...reserved, ...ofInput]);
    const nested = fieldsOf(this.input).filter((field) => field.nested !== undefined);
    this.nested = new Set(nested.map(({ name }) => name));
    const known = () => `the fields are ${[...this.names].join(', ') || 'none'}`;
    this.wording = { whole: 'body', unknown: 'is unknown or cannot be set', known };
  }

  /** @throws ApiError `validation_error` that names every failing argument */
  async parse({ args, parseProblems }: RawArguments): Promise<ParsedArguments> {
    const [builtInValues, allValues] = this.splitBuiltIn(this.withoutNulls(args));
    const { fields, values: inputValues, problems: fieldsProblems } = this.takeFields(allValues);
    const isBuiltIn = ({ field }: FieldProblem) => this.builtInNames.has(field);
    const builtIn = readInput(this.builtIn, builtInValues, parseProblems.filter(isBuiltIn));
    const input = await this.parseInput(
      inputValues,
      parseProblems.filter((problem) => !isBuiltIn(problem)),
    );
    const problems = [...builtIn.problems, ...fieldsProblems, ...input.problems];
    if (problems.length > 0) throw validationError(problems);
    const { id } = builtIn.value;
    const methodArguments = [
      ...(id === undefined ? [] : [id]),
      ...(this.tool.input ? [input.value] : []),
    ];
    // An instance of a class can hide what was sent: a Set is serialized as {}.
    const comparable = hasPlainProperties(this.input) ? allValues : methodArguments;
    return { ...builtIn.value, methodArguments, comparable, fields };
  }

  /** Takes `fields` out of the arguments of a tool that returns summaries. */
  private takeFields(all: Values): { fields?: string[]; values: Values; problems: FieldProblem[] } {
    const { summary } = this.tool;
    if (!summary) return { values: all, problems: [] };
    const { [FIELDS]: further = [], ...values } = all;
    const message = problemOfNames(further, [...summary, ...this.furtherFields]);
    if (message !== undefined) return { values, problems: [{ field: FIELDS, message }] };
    return { fields: [...new Set([...summary, ...(further as string[])])], values, problems: [] };
  }

  private parseInput(
    args: Values,
    parseProblems: readonly FieldProblem[],
  ): MaybePromise<Input<object>> {
    const { input, clearable, wording } = this;
    const read = hasPlainProperties(input) ? readIntoClass : readInput;
    if (this.tool.effect === 'reads' && read === readInput)
      return readParameters(input, args, parseProblems, { wording });
    if (clearable.length === 0) return read(input, args, parseProblems, { wording });
    const { values, problems } = applyClear(args, clearable);
    const isNew = ({ field }: FieldProblem) => parseProblems.every((one) => one.field !== field);
    return read(input, values, [...parseProblems, ...problems.filter(isNew)], { wording });
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

  /** @returns the built-in arguments, and all others */
  private splitBuiltIn(args: Values): readonly [Values, Values] {
    const entries = Object.entries(args);
    const isBuiltIn = ([name]: [string, unknown]) => this.builtInNames.has(name);
    return [
      Object.fromEntries(entries.filter(isBuiltIn)),
      Object.fromEntries(entries.filter((entry) => !isBuiltIn(entry))),
    ];
  }
}

function nullsRemoved(value: unknown): unknown {
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([, inner]) => inner !== null));
}

function builtInArgumentsOf(tool: ToolDeclaration): Type<BuiltInArguments> {
  const { id } = tool;
  class DeclaredArguments {}
  const { prototype } = DeclaredArguments;
  if (id !== undefined) Uuid({ required: true, description: id })(prototype, 'id');
  if (takesDryRun(tool)) {
    const description = 'Check everything and change nothing.';
    Flag({ default: false, description })(prototype, DRY_RUN);
  }
  return DeclaredArguments;
}
