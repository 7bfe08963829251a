import { validationError } from '../../errors/api-error.js';
import { isObject } from '../../fields/kinds/json-object.js';

/** Schema of the header `Idempotency-Key`: visible ASCII characters. */
export const IDEMPOTENCY_KEY_SCHEMA = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  pattern: '^[!-~]+$',
} as const;

const IDEMPOTENCY_KEY = new RegExp(IDEMPOTENCY_KEY_SCHEMA.pattern);

/**
 * @param field where the key was sent, for the error
 * @throws ApiError `validation_error` for a malformed key
 */
export function assertIdempotencyKey(key: unknown, field: string): asserts key is string {
  const { maxLength } = IDEMPOTENCY_KEY_SCHEMA;
  if (typeof key === 'string' && key.length <= maxLength && IDEMPOTENCY_KEY.test(key)) return;
  throw validationError([{ field, message: `must be 1 to ${maxLength} visible ASCII characters` }]);
}

/** JSON with sorted keys, so that equal values have equal JSON. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (!isObject(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
