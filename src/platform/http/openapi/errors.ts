import type { ReferenceObject, ResponseObject } from '@nestjs/swagger';
import { ApiError } from '../../errors/api-error.js';
import { ERROR_CATALOGUE, type ErrorCode } from '../../errors/error-catalogue.js';
import { allowsBody } from '../request/request-reader.js';
import {
  acceptsIdempotencyKey,
  acceptsIfMatch,
  type HeaderName,
  HEADERS,
  headersWith,
  optionalHeader,
} from './headers.js';
import { JSON_TYPE, type Schema, schemaRef } from './model.js';
import type { Route } from './routes.js';

const HEADERS_BY_STATUS: Readonly<Record<number, HeaderName>> = {
  401: 'WWW-Authenticate',
  403: 'WWW-Authenticate',
  429: 'Retry-After',
  503: 'Retry-After',
};

/** Statuses of `bad_request` other than 400: timeout, unknown `Expect`, headers too large. */
const OTHER_BAD_REQUEST_STATUSES = [408, 417, 431];

/**
 * Returns the error responses of a route by status.
 * @param hasBody whether its requests have a body
 * @param responses the responses of the document; missing ones are added
 */
export function errorResponsesOf(
  route: Route,
  hasBody: boolean,
  responses: Record<string, ResponseObject>,
): Record<string, ReferenceObject> {
  const { isGuarded = false } = route;
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(route, hasBody)) {
    const { status } = ERROR_CATALOGUE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  for (const status of OTHER_BAD_REQUEST_STATUSES) {
    byStatus.set(status, ['bad_request', ...(byStatus.get(status) ?? [])]);
  }
  const references = [...byStatus].map(([status, codes]) => {
    const name = [...codes.map(pascalCase), ...(isGuarded ? ['Other'] : [])].join('Or');
    responses[name] ??= errorResponse(status, codes, isGuarded);
    return [status, responseRef(name)] as const;
  });
  if (!isGuarded) return Object.fromEntries(references);
  const description = 'Any other error, such as one of a guard.';
  responses.OtherError ??= { description, ...anyError() };
  return { ...Object.fromEntries(references), default: responseRef('OtherError') };
}

/** Returns the error codes that a route can return. */
function errorsOf(route: Route, hasBody: boolean): ErrorCode[] {
  const { path, method, documentation } = route;
  const isIdempotent = acceptsIdempotencyKey(route);
  // A body is refused as too large also where the method allows none.
  const canBeTooLarge = hasBody || !allowsBody({ method: method.toUpperCase() });
  const codes: (ErrorCode | false)[] = [
    'unauthorized',
    'rate_limit_exceeded',
    'insufficient_scope',
    canBeTooLarge && 'payload_too_large',
    hasBody && 'unsupported_media_type',
    'validation_error',
    'bad_request',
    // A route without an id returns it for an `Idempotency-Key` whose records were erased.
    (path.includes('{') || isIdempotent) && 'not_found',
    ...(documentation?.errors ?? []),
    isIdempotent && 'idempotency_key_in_use',
    isIdempotent && 'idempotency_key_reused',
    acceptsIfMatch(route) && 'precondition_failed',
    method === 'get' ? 'query_failed' : 'create_failed',
    'internal_error',
    'overloaded',
  ];
  return [...new Set(codes.filter((code) => code !== false))];
}

/** Returns the headers and the body of an error response that can have any code. */
export function anyError(status?: number): Required<Pick<ResponseObject, 'headers' | 'content'>> {
  const header = HEADERS_BY_STATUS[status ?? 0];
  return {
    headers: headersWith(...(header ? [header] : [])),
    content: { [JSON_TYPE]: { schema: schemaRef('Error') } },
  };
}

/** @param isGuarded whether the response can have other codes, without the headers of Latitude's errors */
function errorResponse(status: number, codes: ErrorCode[], isGuarded: boolean): ResponseObject {
  const header = HEADERS_BY_STATUS[status];
  const exampleOf = (code: ErrorCode) => ({
    value: new ApiError(code, ERROR_CATALOGUE[code].example).toEnvelope(
      HEADERS['X-Request-Id'].example,
    ),
  });
  return {
    description: codes.map((code) => `\`${code}\`: ${ERROR_CATALOGUE[code].message}`).join(' '),
    headers: { ...anyError(status).headers, ...(isGuarded && header && optionalHeader(header)) },
    content: {
      [JSON_TYPE]: {
        schema: isGuarded ? schemaRef('Error') : errorSchemaOf(codes),
        examples: Object.fromEntries(codes.map((code) => [code, exampleOf(code)])),
      },
    },
  };
}

/** Narrows the schema `Error` to some codes. Linters require `unevaluatedProperties` for that. */
function errorSchemaOf(codes: ErrorCode[]): Schema {
  const error = {
    type: 'object',
    properties: { code: { type: 'string', enum: codes } },
    required: ['code'],
    unevaluatedProperties: true,
  };
  const narrowed = { type: 'object', properties: { error }, required: ['error'] };
  return { allOf: [schemaRef('Error'), narrowed] };
}

function pascalCase(code: string): string {
  return code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function responseRef(name: string): ReferenceObject {
  return { $ref: `#/components/responses/${name}` };
}
