import { mayWrite } from '../access.js';
import { IDEMPOTENCY_KEY_SCHEMA } from '../response/idempotency-key.js';
import type { ErrorCode } from '../../errors/error-catalogue.js';
import { HEADERS } from './response-headers.js';
import type { Parameter } from './model.js';
import type { Route } from './routes.js';

/** An optional request header of some routes. */
interface RequestHeader {
  readonly parameter: Parameter;
  /** Errors that a route returns only if this header is sent. */
  readonly errors: readonly ErrorCode[];
  appliesTo(route: Route): boolean;
}

const REQUEST_HEADERS: readonly RequestHeader[] = [
  {
    parameter: {
      name: 'Idempotency-Key',
      in: 'header',
      required: false,
      description:
        'Makes retries safe. Requests with the same key and body are executed once and get the same response for 24 hours.',
      schema: IDEMPOTENCY_KEY_SCHEMA,
      example: 'a8098c1a-f86e-4d3a-9b5c-2f0e6d7c1b94',
    },
    errors: ['idempotency_key_in_use', 'idempotency_key_reused'],
    appliesTo: acceptsIdempotencyKey,
  },
  {
    parameter: {
      name: 'If-Match',
      in: 'header',
      required: false,
      description:
        'Changes the record only if it has one of these entity tags, such as the `ETag` of an earlier response; `*` means any. A weak tag (`W/"..."`) never matches.',
      schema: { type: 'string' },
      example: '*',
    },
    errors: ['precondition_failed'],
    appliesTo: ({ method, path, access }) =>
      method !== 'get' && method !== 'post' && path.endsWith('}') && mayWrite(access),
  },
  {
    parameter: {
      name: 'If-None-Match',
      in: 'header',
      required: false,
      description: 'The response is 304 if the record has one of these entity tags.',
      schema: { type: 'string' },
      example: HEADERS.ETag.example,
    },
    errors: [],
    appliesTo: ({ method, isRecord }) => method === 'get' && isRecord,
  },
];

export function headerParameters(route: Route): Parameter[] {
  return requestHeadersOf(route).map(({ parameter }) => parameter);
}

/** Returns the errors that the request headers of a route can cause. */
export function requestHeaderErrors(route: Route): ErrorCode[] {
  return requestHeadersOf(route).flatMap(({ errors }) => errors);
}

export function acceptsIdempotencyKey({ method, access }: Route): boolean {
  return method === 'post' && mayWrite(access);
}

function requestHeadersOf(route: Route): RequestHeader[] {
  return REQUEST_HEADERS.filter((header) => header.appliesTo(route));
}
