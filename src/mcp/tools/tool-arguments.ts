import type { Type } from '@nestjs/common';
import { validationError } from '../../errors/api-error.js';
import type { FieldProblem } from '../../errors/field-problem.js';
import { clearableFieldsOf, namesOf } from '../../fields/field.js';
import { Flag, Uuid } from '../../fields/kinds.js';
import { type Input, type ProblemWording, readInput } from '../../fields/read-input.js';
import { readParameters } from '../../fields/read-parameters.js';
import { CLEAR, withCleared } from './clear.js';
import type { ToolDeclaration } from './tool.decorator.js';

/** Arguments as they were sent. */
export interface GivenArguments {
  readonly args: Readonly<Record<string, unknown>>;
  /** What is wrong already with them, as they stood in the request. */
  readonly unread: readonly FieldProblem[];
}

/** Arguments as a tool takes them. */
export interface ReadArguments {
  readonly id?: string;
  /** Whether nothing is to be changed. */
  readonly dry_run?: boolean;
  /** What the method of the tool takes behind the `Actor`. */
  readonly passed: readonly unknown[];
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
  readonly own: Type<Omit<ReadArguments, 'passed'>>;
  readonly input: Type<object>;
  /** The fields that `clear` may name; where there are none, the tool does not take it. */
  readonly clearable: readonly string[];
  private readonly ownNames: ReadonlySet<string>;
  private readonly names: ReadonlySet<string>;
  private readonly wording: ProblemWording;

  /** @throws Error where `input` declares an argument that the tool has anyway */
  constructor(private readonly tool: ToolDeclaration) {
    this.own = ownArgumentsOf(tool);
    this.input = tool.input ?? NoArguments;
    this.clearable = clearableFieldsOf(this.input);
    this.ownNames = new Set(namesOf(this.own));
    const ofDeclaration = [...this.ownNames, ...(this.clearable.length > 0 ? [CLEAR] : [])];
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
  read({ args, unread }: GivenArguments): ReadArguments {
    const [ownValues, others] = this.split(this.withoutNulls(args));
    const isOwn = ({ field }: FieldProblem) => this.ownNames.has(field);
    const own = readInput<Omit<ReadArguments, 'passed'>>(this.own, ownValues, unread.filter(isOwn));
    const rest = this.readRest(
      others,
      unread.filter((problem) => !isOwn(problem)),
    );
    const problems = [...own.problems, ...rest.problems];
    if (problems.length > 0) throw validationError(problems);
    const { id } = own.value;
    const passed = [...(id === undefined ? [] : [id]), ...(this.tool.input ? [rest.value] : [])];
    return { ...own.value, passed };
  }

  private readRest(others: Values, unread: readonly FieldProblem[]): Input<object> {
    const { wording } = this;
    if (this.tool.effect === 'reads')
      return readParameters(this.input, others, unread, { wording });
    if (this.clearable.length === 0) return readInput(this.input, others, unread, { wording });
    const { values, problems } = withCleared(others, this.clearable);
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
    const isUndecided = args[DRY_RUN] === null && this.ownNames.has(DRY_RUN);
    return isUndecided ? { ...given, [DRY_RUN]: true } : given;
  }

  /** The tool's own arguments, and all others. */
  private split(args: Values): readonly [Values, Values] {
    const entries = Object.entries(args);
    const isOwn = ([name]: [string, unknown]) => this.ownNames.has(name);
    return [
      Object.fromEntries(entries.filter(isOwn)),
      Object.fromEntries(entries.filter((entry) => !isOwn(entry))),
    ];
  }
}

/** The DTO of the arguments that a tool takes beside those of its input. */
function ownArgumentsOf({ id, effect }: ToolDeclaration): Type<Omit<ReadArguments, 'passed'>> {
  class OwnArguments {}
  const { prototype } = OwnArguments;
  if (id !== undefined) Uuid({ required: true, description: id })(prototype, 'id');
  if (effect === 'deletes') {
    const description = 'Check everything and change nothing.';
    Flag({ default: false, description })(prototype, DRY_RUN);
  }
  return OwnArguments;
}
