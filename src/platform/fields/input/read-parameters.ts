import type { Type } from '@nestjs/common';
import type { FieldProblem } from '../../errors/field-problem.js';
import { type Field, fieldsOf, isList } from '../field.js';
import { readIntoClass } from './read-into-class.js';
import { type Input, type ProblemWording, readInput, type ReadOptions } from './read-input.js';
import { trimText } from '../kinds/text.js';

type Parameters = Readonly<Record<string, unknown>>;

/** The wording of problems of query parameters. */
export const QUERY: ProblemWording = {
  whole: 'query',
  unknown: 'is unknown',
  known: (names) =>
    names.length > 0 ? `the parameters are ${names.join(', ')}` : 'there are none here',
};

/** Whether a parameter can be given several times: a list, or a property that is no field. */
export function isRepeatable(dto: Type<object>, name: string): boolean {
  const field = fieldsOf(dto).find((candidate) => candidate.name === name);
  return field === undefined || isList(field);
}

/**
 * Reads the query parameters of a list. Empty filters are ignored, because forms and clients send all
 * their filters. A parameter that is required or has a default must not be empty.
 * @param unread problems of parameters that could not be read
 */
export function readParameters<T extends object>(
  dto: Type<T>,
  values: Parameters,
  unread: readonly FieldProblem[] = [],
  { encoding, wording = QUERY }: ReadOptions = {},
): Input<T> {
  const given = withoutEmptyFilters(dto, values);
  const problems = given.problems.length === 0 ? unread : [...unread, ...given.problems];
  return readInput(dto, given.values, problems, { encoding, wording });
}

/** Reads query parameters into a DTO with rules of class-validator. */
export function readClassParameters<T extends object>(
  dto: Type<T>,
  values: Parameters,
  unread: readonly FieldProblem[],
  options: ReadOptions,
): Promise<Input<T>> {
  const given = withoutEmptyFilters(dto, values);
  return readIntoClass(dto, given.values, [...unread, ...given.problems], options);
}

const NO_PROBLEMS: readonly FieldProblem[] = [];

function withoutEmptyFilters(dto: Type<object>, values: Parameters) {
  const isEmpty = ({ name, takesEmpty }: Field) => {
    const value = values[name];
    return !takesEmpty && typeof value === 'string' && trimText(value) === '';
  };
  const empty = fieldsOf(dto).filter(isEmpty);
  if (empty.length === 0) return { values, problems: NO_PROBLEMS };
  const names = new Set(empty.map(({ name }) => name));
  const others = Object.entries(values).filter(([name]) => !names.has(name));
  const problems = empty
    .filter(({ presence }) => presence.required === true || presence.default !== undefined)
    .map(({ name }) => ({ field: name, message: 'must not be empty' }));
  return { values: Object.fromEntries(others), problems };
}
