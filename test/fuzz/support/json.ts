import fc, { type Arbitrary } from 'fast-check';
import type { JsonSchema } from '../../../src/platform/fields/schema/json-schema.js';
import { codePoints, texts, unstorable } from './texts.js';

export type Json = Record<string, unknown>;

/** Bounds that JSON Schema cannot express (docs/contract/resources.md#custom-fields). */
const MAX_BYTES = 32 * 1024;
const MAX_LEVELS = 8;
const LARGEST_INTEGER = 2 ** 53;

const AWKWARD_KEYS = ['__proto__', 'constructor', 'prototype', 'toString', '0', 'id', 'created_at'];

const NUMBERS = fc.oneof(
  fc.integer(),
  fc.maxSafeInteger(),
  fc.constantFrom(LARGEST_INTEGER, -LARGEST_INTEGER, Number.MIN_VALUE, Number.EPSILON),
  fc.double({ min: -LARGEST_INTEGER, max: LARGEST_INTEGER, noNaN: true }),
);

/** Converts a value to its JSON form, in which 0 and -0 are equal, as in PostgreSQL. */
export function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** Any JSON value that can be stored. */
export function jsonValues(): Arbitrary<unknown> {
  return fc.oneof(scalars(), fc.array(scalars(), { maxLength: 3 }), objects(20));
}

/** Objects within the bounds of `custom_fields`. */
export function jsonObjects({ propertyNames }: JsonSchema): Arbitrary<Json> {
  return objects(propertyNames?.maxLength ?? 0);
}

/** Objects beyond one of those bounds. */
export function invalidJsonObjects({ maxProperties, propertyNames }: JsonSchema): Arbitrary<Json> {
  const mostKeys = maxProperties ?? 0;
  const longest = propertyNames?.maxLength ?? 0;
  const keyed = (key: string) => objects(longest).map((object) => ({ ...object, [key]: 1 }));
  const manyKeys = Array.from({ length: mostKeys + 1 }, (_, i) => [`k${i}`, i] as const);
  return fc.oneof(
    fc.constant(Object.fromEntries(manyKeys)),
    fc.constantFrom('', 'k'.repeat(longest + 1), '😀'.repeat(longest + 1)).chain(keyed),
    unstorable().map((text) => ({ [text]: 1 })),
    unstorable().map((text) => ({ list: [{ text }] })),
    scalars().map((leaf) => nested(MAX_LEVELS, [leaf])),
    fc.constant({ text: 'é'.repeat(MAX_BYTES / 2) }),
    hugeNumbers().map((number) => ({ list: [1, number] })),
  );
}

/** Numbers that are rejected at any depth. */
export function hugeNumbers(): Arbitrary<number> {
  return fc.oneof(
    fc.constantFrom(LARGEST_INTEGER + 2, -LARGEST_INTEGER - 2, Number.MAX_VALUE),
    fc.double({ min: LARGEST_INTEGER + 2, noNaN: true, noDefaultInfinity: true }),
  );
}

/**
 * Whether a value is allowed in `custom_fields`, regardless of its bounds
 * (docs/contract/resources.md#custom-fields).
 */
export function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value === 'number') return Math.abs(value) <= LARGEST_INTEGER;
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every((entry) => entry.every(isStorable));
}

/** Whether an object is within the bounds of `custom_fields`. */
export function isWithinBounds(value: unknown, { maxProperties, propertyNames }: JsonSchema) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const keys = Object.keys(value);
  const lengths = keys.map(codePoints);
  return (
    keys.length <= (maxProperties ?? 0) &&
    lengths.every((length) => length > 0 && length <= (propertyNames?.maxLength ?? 0)) &&
    levelsOf(value) <= MAX_LEVELS &&
    Buffer.byteLength(JSON.stringify(value)) <= MAX_BYTES
  );
}

function scalars(): Arbitrary<unknown> {
  return fc.oneof(NUMBERS, texts(100), fc.boolean(), fc.constant(null));
}

function objects(longestKey: number): Arbitrary<Json> {
  const key = fc.oneof(
    { weight: 5, arbitrary: texts(longestKey).filter((text) => text !== '') },
    { weight: 1, arbitrary: fc.constantFrom(...AWKWARD_KEYS) },
  );
  return fc
    .object({ key, values: [scalars()], maxDepth: MAX_LEVELS - 2, maxKeys: 8 })
    .filter((object) => Buffer.byteLength(JSON.stringify(object)) <= MAX_BYTES);
}

function nested(levels: number, value: unknown): Json {
  return levels === 1 ? { in: value } : { in: nested(levels - 1, value) };
}

function levelsOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(levelsOf));
}
