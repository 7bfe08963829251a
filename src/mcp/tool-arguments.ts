import type { Type } from '@nestjs/common';
import { validationError } from '../errors/api-error.js';
import type { FieldProblem } from '../errors/field-problem.js';
import { namesOf } from '../fields/field.js';
import { IdDto } from '../fields/id.dto.js';
import { Flag } from '../fields/kinds.js';
import { readInput } from '../fields/read-input.js';
import { readParameters } from '../fields/read-parameters.js';
import type { ToolDeclaration } from './tool.decorator.js';

/** The argument of every tool that deletes. */
export class DryRunDto {
  @Flag({ default: false, description: 'Check everything and change nothing.' })
  dry_run: boolean;
}

/** Arguments as they were sent. */
export interface GivenArguments {
  readonly args: Readonly<Record<string, unknown>>;
  /** What is wrong already with them, as they stood in the request. */
  readonly unread: readonly FieldProblem[];
}

/** What a tool is to be called with. */
export interface ReadArguments {
  /** What its method takes behind the `Actor`. */
  readonly passed: unknown[];
  readonly isDryRun: boolean;
}

/** The DTOs of the arguments that a tool takes beside its `input`. */
export function ownInputsOf({ id, effect }: ToolDeclaration): Type<object>[] {
  return [...(id === undefined ? [] : [IdDto]), ...(effect === 'deletes' ? [DryRunDto] : [])];
}

/** @throws ApiError `validation_error` that names every failing argument */
export function readArguments(
  declaration: ToolDeclaration,
  { args, unread }: GivenArguments,
): ReadArguments {
  const { input, effect } = declaration;
  const own = ownInputsOf(declaration);
  const isOwn = (name: string) => own.some((dto) => namesOf(dto).includes(name));
  const readOwn = own.map((dto) => {
    const names = namesOf(dto);
    const ofDto = unread.filter(({ field }) => names.includes(field));
    return readInput(
      dto,
      only(args, (name) => names.includes(name)),
      ofDto,
    );
  });
  const read = effect === 'reads' ? readParameters : readInput;
  const rest = read<object>(
    input ?? NoArguments,
    only(args, (name) => !isOwn(name)),
    unread.filter(({ field }) => !isOwn(field)),
  );
  const problems = [...readOwn, rest].flatMap((part) => part.problems);
  if (problems.length > 0) throw validationError(problems);
  const { id, dry_run: isDryRun = false } = Object.assign(
    {},
    ...readOwn.map(({ value }) => value),
  ) as { id?: string; dry_run?: boolean };
  return {
    passed: [...(id === undefined ? [] : [id]), ...(input ? [rest.value] : [])],
    isDryRun,
  };
}

/** The arguments of a tool that takes none of its own. */
class NoArguments {}

function only(args: GivenArguments['args'], isWanted: (name: string) => boolean) {
  return Object.fromEntries(Object.entries(args).filter(([name]) => isWanted(name)));
}
