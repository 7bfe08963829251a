import type { Type } from '@nestjs/common';
import type { FieldProblem } from '../errors/field-problem.js';
import { namesOf } from './field.js';
import { type Input, readInput } from './read-input.js';

/**
 * Reads what narrows and sorts a list. An empty parameter is refused: left out in silence, it would
 * answer everything to who asked for something.
 * @param unread what is wrong with the parameters already
 */
export function readParameters<T extends object>(
  dto: Type<T>,
  values: Readonly<Record<string, unknown>>,
  unread: readonly FieldProblem[] = [],
): Input<T> {
  const isEmpty = (name: string) => {
    const value = values[name];
    return typeof value === 'string' && value.trim() === '';
  };
  const empty = namesOf(dto).filter(isEmpty);
  if (empty.length === 0) return readInput(dto, values, unread);
  const others = Object.entries(values).filter(([name]) => !empty.includes(name));
  const problems = empty.map((field) => ({ field, message: 'must not be empty' }));
  return readInput(dto, Object.fromEntries(others), [...unread, ...problems]);
}
