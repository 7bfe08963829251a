import type { HeaderObject, ParameterObject, ReferenceObject } from '@nestjs/swagger';
import { IDEMPOTENCY_KEY_SCHEMA } from '../response/idempotent-request.js';
import components from './components.json' with { type: 'json' };
import type { Route } from './routes.js';

/** The response headers of the document. */
export const HEADERS = components.headers;

export type HeaderName = keyof typeof HEADERS;

const COMMON_HEADERS = [
  'X-Request-Id',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
] as const satisfies readonly HeaderName[];

/** Returns references to the headers of every response and to additional ones. */
export function headersWith(...more: readonly HeaderName[]): Record<string, ReferenceObject> {
  const reference = (name: HeaderName) => [name, { $ref: `#/components/headers/${name}` }] as const;
  return Object.fromEntries([...COMMON_HEADERS, ...more].map(reference));
}

/** A header that some responses with the same status do not have. */
export function optionalHeader(name: HeaderName): Record<string, HeaderObject> {
  return { [name]: { ...HEADERS[name], required: false } };
}

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  description:
    'Makes retries safe. Requests with the same key and body are executed once and get the same response for 24 hours.',
  schema: IDEMPOTENCY_KEY_SCHEMA,
  example: 'a8098c1a-f86e-4d3a-9b5c-2f0e6d7c1b94',
};

const IF_MATCH = {
  name: 'If-Match',
  description:
    'Changes the record only if it has one of these entity tags, such as the `ETag` of an earlier response; `*` means any. A weak tag (`W/"..."`) never matches.',
  schema: { type: 'string' },
  example: '*',
};

const IF_NONE_MATCH = {
  name: 'If-None-Match',
  description: 'The response is 304 if the record has one of these entity tags.',
  schema: { type: 'string' },
  example: HEADERS.ETag.example,
};

/**
 * Returns the optional headers of a request.
 * @param isRecord whether the response is one record
 */
export function requestHeadersOf(route: Route, isRecord: boolean): ParameterObject[] {
  const taken = [
    acceptsIdempotencyKey(route) && IDEMPOTENCY_KEY,
    acceptsIfMatch(route) && IF_MATCH,
    route.method === 'get' && isRecord && IF_NONE_MATCH,
  ];
  const headers = taken.filter((header) => header !== false);
  return headers.map(({ name, ...header }) => ({ name, in: 'header', required: false, ...header }));
}

export function acceptsIdempotencyKey({ method, mayWrite }: Route): boolean {
  return method === 'post' && mayWrite;
}

export function acceptsIfMatch({ method, path, mayWrite, isConditional }: Route): boolean {
  if (method === 'post') return isConditional;
  return mayWrite && (method === 'put' || path.endsWith('}'));
}
