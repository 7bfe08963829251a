import type { Header, Ref } from './model.js';

/** Descriptions of the response headers. */
export const HEADERS = {
  'X-Request-Id': {
    description:
      'Identifies the request in the log. It is the value of the request header (1 to 128 visible ASCII characters) or a new UUID.',
    required: true,
    schema: { type: 'string', minLength: 1, maxLength: 128 },
    example: '5d9f2a0e-6d1a-4a8c-9f0b-0c5f6a1d2e3f',
  },
  'RateLimit-Limit': {
    description: 'Maximum number of reads or writes in a window of 60 seconds.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 60,
  },
  'RateLimit-Remaining': {
    description: 'Number of requests that are left in the window.',
    required: true,
    schema: { type: 'integer', minimum: 0 },
    example: 59,
  },
  'RateLimit-Reset': {
    description: 'End of the window as Unix time in seconds.',
    required: true,
    schema: { type: 'integer' },
    example: 1767630060,
  },
  'Retry-After': {
    description: 'Seconds to wait before the request is retried.',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 42,
  },
  Location: {
    description: 'Path of the new record.',
    required: true,
    schema: { type: 'string', format: 'uri-reference' },
    example: '/api/v1/leads/01a1fbde-995e-72a3-a032-ab1c988b9794',
  },
  ETag: {
    description: 'The version of the record, for `If-Match` and `If-None-Match`.',
    required: true,
    schema: { type: 'string' },
    example: '"NEw9L3W74r0fjtSdGiBUEoR5wdMWhIEmJKW6571Oi_8"',
  },
  'WWW-Authenticate': {
    description: 'How to authenticate; on 403 also the missing scope.',
    required: true,
    schema: { type: 'string' },
    example: 'Bearer realm="latitude"',
  },
  'Idempotency-Replayed': {
    description:
      'Sent if the response to an earlier request with this `Idempotency-Key` is repeated.',
    schema: { type: 'string', enum: ['true'] },
    example: 'true',
  },
} as const satisfies Record<string, Header>;

export type HeaderName = keyof typeof HEADERS;

const COMMON_HEADERS = [
  'X-Request-Id',
  'RateLimit-Limit',
  'RateLimit-Remaining',
  'RateLimit-Reset',
] as const satisfies readonly HeaderName[];

/** Returns references to the headers of every response and to additional ones. */
export function headersWith(...more: readonly HeaderName[]): Record<string, Ref> {
  const names = [...COMMON_HEADERS, ...more];
  return Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` }] as const),
  );
}
