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

/** All fields of a DTO, such as for a new row. Fields without a value are null. */
export function nullsForMissing<T extends object>(create: Type<T>, input: object): Complete<T> {
  const given = input as Readonly<Record<string, unknown>>;
  const fields = namesOf(create).map((name) => [name, given[name] ?? null]);
  return Object.fromEntries(fields) as Complete<T>;
}

export function withoutUndefined(values: object): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}
