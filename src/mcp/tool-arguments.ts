import type { Type } from '@nestjs/common';
import { validationError } from '../errors/api-error.js';
import type { FieldProblem } from '../errors/field-problem.js';
import { namesOf } from '../fields/field.js';
import { IdDto } from '../fields/id.dto.js';
import { Flag } from '../fields/kinds.js';
import { readInput } from '../fields/read-input.js';
import { readParameters } from '../fields/read-parameters.js';
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

const DRY_RUN = { default: false, description: 'Check everything and change nothing.' };

class NoArguments {}

class DryRunDto {
  @Flag(DRY_RUN) dry_run: boolean;
}

class DeletionDto extends IdDto {
  @Flag(DRY_RUN) dry_run: boolean;
}

/** The arguments that a tool takes beside its `input`. */
export function ownInputOf({ id, effect }: ToolDeclaration): Type<object> {
  if (effect === 'deletes') return id === undefined ? DryRunDto : DeletionDto;
  return id === undefined ? NoArguments : IdDto;
}

/** @throws ApiError `validation_error` that names every failing argument */
export function readArguments(tool: ToolDeclaration, given: GivenArguments): ReadArguments {
  const { input = NoArguments, effect } = tool;
  const ownInput: Type<Omit<ReadArguments, 'passed'>> = ownInputOf(tool);
  const names = namesOf(ownInput);
  const isOwn = (name: string) => names.includes(name);
  const own = readInput(ownInput, ...part(given, isOwn));
  const read = effect === 'reads' ? readParameters : readInput;
  const rest = read<object>(input, ...part(given, (name) => !isOwn(name)));
  const problems = [...own.problems, ...rest.problems];
  if (problems.length > 0) throw validationError(problems);
  const { id } = own.value;
  const passed = [...(id === undefined ? [] : [id]), ...(tool.input ? [rest.value] : [])];
  return { ...own.value, passed };
}

/** Some of the arguments, and what is wrong already with them. */
function part({ args, unread }: GivenArguments, isMeant: (name: string) => boolean) {
  const values = Object.fromEntries(Object.entries(args).filter(([name]) => isMeant(name)));
  return [values, unread.filter(({ field }) => isMeant(field))] as const;
}
