import { isDeepStrictEqual } from 'node:util';
import type { Type } from '@nestjs/common';
import { namesOf } from './field.js';

/**
 * What of an update differs from the stored record, values compared as JSON: only what is given
 * changes, and what is given again is no change.
 * @returns undefined where nothing differs
 */
export function realChanges<T extends object>(
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

/** Every field of a create, those that are not given as null. */
export function nullsForMissing(create: Type<object>, input: object): Record<string, unknown> {
  const given = input as Readonly<Record<string, unknown>>;
  return Object.fromEntries(namesOf(create).map((name) => [name, given[name] ?? null]));
}
