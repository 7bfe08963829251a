import { codePointLength, isWellFormedText, NOT_WELL_FORMED } from './text.js';

const MAX_KEYS = 100;
const MAX_KEY_LENGTH = 100;
const MAX_BYTES = 32 * 1024;
const MAX_DEPTH = 8;

const TOO_MANY_BYTES = `must be at most ${MAX_BYTES} bytes as JSON`;
const TOO_DEEP = `must be at most ${MAX_DEPTH} levels deep`;

/** 2^53: doubles do not represent every integer above it. */
export const LARGEST_INTEGER = 2 ** 53;

const TOO_LARGE = { type: 'number', exclusiveMinimum: LARGEST_INTEGER } as const;
const TOO_SMALL = { type: 'number', exclusiveMaximum: -LARGEST_INTEGER } as const;

/** The JSON Schema of an object. It has no keywords for the size and the depth. */
export const JSON_OBJECT_SCHEMA = {
  type: 'object',
  maxProperties: MAX_KEYS,
  propertyNames: { minLength: 1, maxLength: MAX_KEY_LENGTH },
  additionalProperties: true,
  description: `At most ${MAX_BYTES} bytes as JSON and ${MAX_DEPTH} levels deep.`,
} as const;

/**
 * The schema of the input. The bounds of numbers are within `not`, because generators of clients give values with
 * `minimum` or `maximum` the type number.
 */
export const JSON_OBJECT_INPUT_SCHEMA = {
  ...JSON_OBJECT_SCHEMA,
  additionalProperties: { not: { anyOf: [TOO_LARGE, TOO_SMALL] } },
  description: `${JSON_OBJECT_SCHEMA.description} Numbers at any depth are from -${LARGEST_INTEGER} to ${LARGEST_INTEGER}.`,
} as const;

/** @returns undefined if the text is not JSON */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a JSON value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Validates an object with arbitrary keys, and returns the problem, if any
 * (docs/contract/resources.md#custom-fields). The JSON parser has refused numbers out of range.
 */
export function jsonObjectProblem(value: unknown): string | undefined {
  if (!isObject(value)) return 'must be an object';
  const keys = Object.keys(value);
  if (keys.length > MAX_KEYS) return `must have at most ${MAX_KEYS} keys`;
  if (keys.some((key) => key === '' || codePointLength(key) > MAX_KEY_LENGTH)) {
    return `must have keys of 1 to ${MAX_KEY_LENGTH} characters`;
  }
  // Finds a large value before it is written as JSON.
  const problem = problemInside(value, MAX_DEPTH, { bytes: MAX_BYTES });
  if (problem !== undefined) return problem;
  return Buffer.byteLength(JSON.stringify(value)) > MAX_BYTES ? TOO_MANY_BYTES : undefined;
}

/**
 * The first problem inside a JSON value, found in steps that the bytes bound.
 * @param levels that may be left
 * @param left the bytes that may be left; a value and a key have at least those that are subtracted
 */
function problemInside(
  value: unknown,
  levels: number,
  left: { bytes: number },
): string | undefined {
  left.bytes -= typeof value === 'string' ? value.length + 2 : 1;
  if (left.bytes < 0) return TOO_MANY_BYTES;
  if (typeof value === 'string') return isWellFormedText(value) ? undefined : NOT_WELL_FORMED;
  if (typeof value !== 'object' || value === null) return undefined;
  if (levels === 0) return TOO_DEEP;
  if (Array.isArray(value)) return firstProblem(value, levels, left);
  const keys = Object.keys(value);
  return firstProblem(keys, 1, left) ?? firstProblem(Object.values(value), levels, left);
}

function firstProblem(
  values: readonly unknown[],
  levels: number,
  left: { bytes: number },
): string | undefined {
  for (const value of values) {
    const problem = problemInside(value, levels - 1, left);
    if (problem !== undefined) return problem;
  }
  return undefined;
}
