import { codePointLength } from './text.js';

const MOST_KEYS = 100;
const LONGEST_KEY = 100;
const MOST_BYTES = 32 * 1024;
const DEEPEST = 8;

/** 2^53: the last integer before doubles leave some out. */
export const LARGEST_INTEGER = 2 ** 53;

const TOO_LARGE = { type: 'number', exclusiveMinimum: LARGEST_INTEGER } as const;
const TOO_SMALL = { type: 'number', exclusiveMaximum: -LARGEST_INTEGER } as const;

/** The bounds of such an object; JSON Schema has no words for the last two. */
export const JSON_OBJECT_SCHEMA = {
  type: 'object',
  maxProperties: MOST_KEYS,
  propertyNames: { minLength: 1, maxLength: LONGEST_KEY },
  additionalProperties: true,
  description: `At most ${MOST_BYTES} bytes as JSON and ${DEEPEST} levels deep.`,
} as const;

/** As it is accepted. It is a `not`, for generators make numbers of any value that has bounds. */
export const JSON_OBJECT_INPUT_SCHEMA = {
  ...JSON_OBJECT_SCHEMA,
  additionalProperties: { not: { anyOf: [TOO_LARGE, TOO_SMALL] } },
  description: `${JSON_OBJECT_SCHEMA.description} Numbers at any depth are from -${LARGEST_INTEGER} to ${LARGEST_INTEGER}.`,
} as const;

/** Whether a JSON value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * What is wrong with an object of the caller's own keys, if anything
 * (docs/contract/resources.md#custom-fields).
 */
export function jsonObjectProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return 'must be an object';
  const keys = Object.keys(value);
  if (keys.length > MOST_KEYS) return `must have at most ${MOST_KEYS} keys`;
  if (keys.some((key) => key === '' || codePointLength(key) > LONGEST_KEY)) {
    return `must have keys of 1 to ${LONGEST_KEY} characters`;
  }
  if (isDeeperThan(value, DEEPEST)) return `must be at most ${DEEPEST} levels deep`;
  if (Buffer.byteLength(JSON.stringify(value)) > MOST_BYTES) {
    return `must be at most ${MOST_BYTES} bytes as JSON`;
  }
  return undefined;
}

/** The reader of bodies has bounded the depth already, so this may recurse. */
function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((item) => isDeeperThan(item, levels - 1));
}
