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

/** A request with an `Idempotency-Key`, which is carried out once. */
export interface IdempotentRequest {
  readonly key: string;
  /** What is requested, such as method and path. A key is valid for one route. */
  readonly route: string;
  /** The rest of the request in a canonical form. */
  readonly content: string;
}

/**
 * @param key as the client sent it
 * @param content what a repeated request must have as well
 * @returns undefined if there is no key
 * @throws ApiError `validation_error` for a malformed key
 */
export function idempotentRequest(
  key: unknown,
  route: string,
  content: unknown,
): IdempotentRequest | undefined {
  if (key === undefined) return undefined;
  const { maxLength } = IDEMPOTENCY_KEY_SCHEMA;
  if (typeof key === 'string' && key.length <= maxLength && IDEMPOTENCY_KEY.test(key)) {
    return { key, route, content: canonicalJson(content) };
  }
  const message = `must be 1 to ${maxLength} visible ASCII characters`;
  throw validationError([{ field: 'Idempotency-Key', message }]);
}

/** JSON with sorted keys, so that equal values have equal JSON. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) => {
    if (!isObject(part)) return part;
    return Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}
