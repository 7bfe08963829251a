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
  const names = Object.keys(update) as (keyof T)[];
  const changed = names.filter((name) => {
    const value = update[name];
    return value !== undefined && !isDeepStrictEqual(asJson(value), asJson(stored[name]));
  });
  if (changed.length === 0) return undefined;
  return Object.fromEntries(changed.map((name) => [name, update[name]])) as Partial<T>;
}

function asJson(value: unknown): unknown {
  return typeof value === 'object' ? JSON.parse(JSON.stringify(value)) : value;
}

/** All fields of a DTO. Fields without a value are null. */
export function nullsForMissing(create: Type<object>, input: object): Record<string, unknown> {
  const given = input as Readonly<Record<string, unknown>>;
  return Object.fromEntries(namesOf(create).map((name) => [name, given[name] ?? null]));
}
