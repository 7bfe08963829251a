import type { Type } from '@nestjs/common';
import { validationError } from '../../errors/api-error.js';
import type { FieldProblem } from '../../errors/field-problem.js';
import { clearableFieldsOf, namesOf } from '../../fields/field.js';
import { Flag, Uuid } from '../../fields/kinds.js';
import { type Input, type ProblemWording, readInput } from '../../fields/read-input.js';
import { readParameters } from '../../fields/read-parameters.js';
import { CLEAR, applyClear } from './clear.js';
import type { ToolDeclaration } from './tool.decorator.js';

/** Arguments as they were sent. */
export interface RawArguments {
  readonly args: Readonly<Record<string, unknown>>;
  /** What is wrong already with them, as they stood in the request. */
  readonly parseProblems: readonly FieldProblem[];
}

/** Arguments as a tool takes them. */
export interface ParsedArguments {
  readonly id?: string;
  /** Whether nothing is to be changed. */
  readonly dry_run?: boolean;
  /** What the method of the tool takes behind the `Actor`. */
  readonly methodArguments: readonly unknown[];
}

type Values = Readonly<Record<string, unknown>>;

const DRY_RUN = 'dry_run';

class NoArguments {}

/**
 * The arguments of one tool: those of its `input`, and those that follow from its declaration.
 *
 * Null means that an argument is not given: strict function calling makes every argument required,
 * so that a model has no other way to leave one out. Fields are emptied by `clear` alone.
 */
export class ToolArguments {
  /** The DTO of the arguments `id` and `dry_run`, as far as the tool takes them. */
  readonly builtIn: Type<Omit<ParsedArguments, 'methodArguments'>>;
  readonly input: Type<object>;
  /** The fields that `clear` may name; where there are none, the tool does not take it. */
  readonly clearable: readonly string[];
  private readonly builtInNames: ReadonlySet<string>;
  private readonly names: ReadonlySet<string>;
  private readonly wording: ProblemWording;

  /** @throws Error where `input` declares an argument that the tool has anyway */
  constructor(private readonly tool: ToolDeclaration) {
    this.builtIn = builtInArgumentsOf(tool);
    this.input = tool.input ?? NoArguments;
    this.clearable = clearableFieldsOf(this.input);
    this.builtInNames = new Set(namesOf(this.builtIn));
    const ofDeclaration = [...this.builtInNames, ...(this.clearable.length > 0 ? [CLEAR] : [])];
    const ofInput = namesOf(this.input);
    const taken = ofInput.find((name) => ofDeclaration.includes(name));
    if (taken !== undefined) {
      throw new Error(`The input of the tool ${tool.name} must not declare ${taken}`);
    }
    this.names = new Set([...ofDeclaration, ...ofInput]);
    const known = () => `the fields are ${[...this.names].join(', ') || 'none'}`;
    this.wording = { whole: 'body', unknown: 'is unknown or cannot be set', known };
  }

  /** @throws ApiError `validation_error` that names every failing argument */
  parse({ args, parseProblems }: RawArguments): ParsedArguments {
    const [ownValues, others] = this.splitBuiltIn(this.withoutNulls(args));
    const isOwn = ({ field }: FieldProblem) => this.builtInNames.has(field);
    const own = readInput<Omit<ParsedArguments, 'methodArguments'>>(
      this.builtIn,
      ownValues,
      parseProblems.filter(isOwn),
    );
    const rest = this.parseInput(
      others,
      parseProblems.filter((problem) => !isOwn(problem)),
    );
    const problems = [...own.problems, ...rest.problems];
    if (problems.length > 0) throw validationError(problems);
    const { id } = own.value;
    const methodArguments = [
      ...(id === undefined ? [] : [id]),
      ...(this.tool.input ? [rest.value] : []),
    ];
    return { ...own.value, methodArguments };
  }

  private parseInput(others: Values, unread: readonly FieldProblem[]): Input<object> {
    const { wording } = this;
    if (this.tool.effect === 'reads')
      return readParameters(this.input, others, unread, { wording });
    if (this.clearable.length === 0) return readInput(this.input, others, unread, { wording });
    const { values, problems } = applyClear(others, this.clearable);
    const found = problems.filter(({ field }) => unread.every((one) => one.field !== field));
    return readInput(this.input, values, [...unread, ...found], { wording });
  }

  /**
   * The arguments that are given. Only false and no `dry_run` at all let a tool delete: null is
   * what a model gives that does not care.
   */
  private withoutNulls(args: Values): Values {
    const isGiven = ([name, value]: [string, unknown]) => value !== null || !this.names.has(name);
    const given = Object.fromEntries(Object.entries(args).filter(isGiven));
    const isUndecided = args[DRY_RUN] === null && this.builtInNames.has(DRY_RUN);
    return isUndecided ? { ...given, [DRY_RUN]: true } : given;
  }

  /** The tool's own arguments, and all others. */
  private splitBuiltIn(args: Values): readonly [Values, Values] {
    const entries = Object.entries(args);
    const isOwn = ([name]: [string, unknown]) => this.builtInNames.has(name);
    return [
      Object.fromEntries(entries.filter(isOwn)),
      Object.fromEntries(entries.filter((entry) => !isOwn(entry))),
    ];
  }
}

/** The DTO of the arguments that a tool takes beside those of its input. */
function builtInArgumentsOf({
  id,
  effect,
}: ToolDeclaration): Type<Omit<ParsedArguments, 'methodArguments'>> {
  class OwnArguments {}
  const { prototype } = OwnArguments;
  if (id !== undefined) Uuid({ required: true, description: id })(prototype, 'id');
  if (effect === 'deletes') {
    const description = 'Check everything and change nothing.';
    Flag({ default: false, description })(prototype, DRY_RUN);
  }
  return OwnArguments;
}
