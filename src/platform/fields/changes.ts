import { isDeepStrictEqual } from 'node:util';
import type { Type } from '@nestjs/common';
import { namesOf } from './field.js';

/**
 * The fields of an update whose values differ from the stored record. Values are compared as JSON.
 * @returns undefined if no value differs
 */
export function changedFields<T extends object>(
  stored: T,
  update: Partial<T>,
): Partial<T> | undefined {
  const changed = Object.entries(update).filter(
    ([name, value]) => value !== undefined && !isEqual(value, stored[name as keyof T]),
  );
  return changed.length === 0 ? undefined : (Object.fromEntries(changed) as Partial<T>);
}

/** Whether two values are equal as JSON. */
export function isEqual(one: unknown, other: unknown): boolean {
  return one === other || isDeepStrictEqual(asJson(one), asJson(other));
}

function asJson(value: unknown): unknown {
  return typeof value === 'object' ? JSON.parse(JSON.stringify(value)) : value;
}

/** The fields of a DTO. Those that can be left out can be null. */
export type Complete<T> = {
  [K in keyof T]-?: undefined extends T[K] ? Exclude<T[K], undefined> | null : T[K];
};

/** The names of the fields of each DTO. A look-up in the metadata of a class costs more than the copy of the values. */
const NAMES = new WeakMap<Type<object>, readonly string[]>();

/** All fields of a DTO, such as for a new row. Fields without a value are null. */
export function nullsForMissing<T extends object>(create: Type<T>, input: object): Complete<T> {
  const names = NAMES.get(create) ?? namesOf(create);
  NAMES.set(create, names);
  const given = input as Readonly<Record<string, unknown>>;
  const complete: Record<string, unknown> = {};
  for (const name of names) complete[name] = given[name] ?? null;
  return complete as Complete<T>;
}

export function withoutUndefined(values: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
