import type { Type } from '@nestjs/common';
import { validateSync } from 'class-validator';
import { type FieldProblem, fieldLabel } from '../errors/field-problem.js';
import { type Field, fieldsOf, fixedFieldsOf, isUpdate } from './field.js';

/** What became of an input: its DTO, and everything that is wrong with it. */
export interface Input<T> {
  readonly value: T;
  readonly problems: readonly FieldProblem[];
}

/**
 * Reads a plain object into a DTO: refuses what the DTO does not know, brings values into their
 * stored form, checks them, and fills in defaults. `value` may be used only without problems.
 * @param unread what is wrong with the input already; a field in it is named for that alone
 */
export function readInput<T extends object>(
  dto: Type<T>,
  plain: object,
  unread: readonly FieldProblem[] = [],
): Input<T> {
  const fields = fieldsOf(dto);
  const value = normalized(dto, plain, fields);
  const named = new Set(unread.map(({ field }) => field));
  const found = [...unknownFields(dto, plain, fields), ...invalidFields(value)];
  const problems = [...unread, ...found.filter(({ field }) => !named.has(field))];
  if (problems.length === 0 && !isUpdate(dto)) fillIn(value, fields);
  return { value, problems };
}

function normalized<T extends object>(dto: Type<T>, plain: object, fields: readonly Field[]): T {
  const given = fields.filter(({ name }) => Object.hasOwn(plain, name));
  const raw = plain as Readonly<Record<string, unknown>>;
  const values = given.map(({ name, normalize }) => [name, normalize(raw[name])] as const);
  return Object.assign(new dto(), Object.fromEntries(values));
}

function unknownFields(dto: Type<object>, plain: object, fields: readonly Field[]): FieldProblem[] {
  const known = new Set(fields.map(({ name }) => name));
  const fixed = fixedFieldsOf(dto);
  return Object.keys(plain)
    .filter((name) => !known.has(name))
    .map((name) => ({
      field: fieldLabel(name, 'body'),
      message: fixed.includes(name) ? 'cannot be changed' : 'is unknown or cannot be set',
    }));
}

function invalidFields(value: object): FieldProblem[] {
  return validateSync(value, { stopAtFirstError: true, forbidUnknownValues: false }).map(
    ({ property, constraints = {} }) => ({
      field: property,
      message: Object.values(constraints).join(' and '),
    }),
  );
}

/** On create, null means the same as left out; what is left out takes its default. */
function fillIn(value: object, fields: readonly Field[]): void {
  const target = value as Record<string, unknown>;
  for (const { name, presence } of fields) {
    if (target[name] !== undefined && target[name] !== null) continue;
    if (presence.default === undefined) Reflect.deleteProperty(target, name);
    else target[name] = presence.default;
  }
}
