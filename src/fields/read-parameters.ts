import type { Type } from '@nestjs/common';
import type { FieldProblem } from '../errors/field-problem.js';
import { type Field, fieldsOf } from './field.js';
import { type Input, type ProblemWording, readInput, type ReadOptions } from './read-input.js';
import { trimText } from './text.js';

const QUERY: ProblemWording = {
  whole: 'query',
  unknown: 'is unknown',
  known: (names) =>
    names.length > 0 ? `the parameters are ${names.join(', ')}` : 'there are none here',
};

/**
 * Reads the query parameters of a list. Empty filters are ignored, because forms and clients send all
 * their filters. A parameter that is required or has a default must not be empty.
 * @param unread problems of parameters that could not be read
 */
export function readParameters<T extends object>(
  dto: Type<T>,
  values: Readonly<Record<string, unknown>>,
  unread: readonly FieldProblem[] = [],
  { encoding, wording = QUERY }: ReadOptions = {},
): Input<T> {
  const isEmpty = ({ name }: Field) => {
    const value = values[name];
    return typeof value === 'string' && trimText(value) === '';
  };
  const empty = fieldsOf(dto).filter(isEmpty);
  if (empty.length === 0) return readInput(dto, values, unread, { encoding, wording });
  const names = new Set(empty.map(({ name }) => name));
  const others = Object.entries(values).filter(([name]) => !names.has(name));
  const problems = empty
    .filter(({ presence }) => presence.required === true || presence.default !== undefined)
    .map(({ name }) => ({ field: name, message: 'must not be empty' }));
  return readInput(dto, Object.fromEntries(others), [...unread, ...problems], {
    encoding,
    wording,
  });
}
