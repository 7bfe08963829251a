import { ApiError, type ApiErrorOptions } from '../../errors/api-error.js';
import { ERROR_CATALOGUE, type ErrorCode } from '../../errors/error-catalogue.js';
import type { JsonSchema } from '../../fields/schema/json-schema.js';
import { takesNoBody } from '../request/no-body.decorator.js';
import { allowsBody } from '../request/request-reader.js';
import { type Components, schemaRef } from './components.js';
import { type HeaderName, HEADERS, headersWith } from './response-headers.js';
import type { DeclaredResponses, Ref, Response, Schema } from './model.js';
import { requestHeaderErrors } from './request-headers.js';
import { completed } from './responses.js';
import type { Route } from './routes.js';

const EXAMPLES: Readonly<Partial<Record<ErrorCode, ApiErrorOptions>>> = {
  validation_error: {
    message: 'limit must be an integer from 1 to 100.',
    details: [{ field: 'limit', message: 'must be an integer from 1 to 100' }],
  },
  lead_not_found: {
    message: 'lead_id does not refer to a lead of the organization.',
    details: [{ field: 'lead_id', message: 'does not refer to a lead of the organization' }],
  },
  duplicate: {
    message: 'Another lead has this email.',
    details: [
      {
        field: 'email',
        message: 'belongs to another lead',
        existing_id: '01a1fbde-995e-72a3-a032-ab1c988b9794',
      },
    ],
  },
};

const HEADERS_BY_STATUS: Readonly<Record<number, HeaderName>> = {
  401: 'WWW-Authenticate',
  403: 'WWW-Authenticate',
  429: 'Retry-After',
  503: 'Retry-After',
};

/** Statuses of `bad_request` other than 400: timeout, unknown `Expect`, headers too large. */
const OTHER_BAD_REQUEST_STATUSES = [408, 417, 431];

/** Returns the error responses of a route by status, with those of `@ApiResponse()`. */
export function errorResponsesOf(
  route: Route,
  components: Components,
  declared: DeclaredResponses,
): Record<string, Ref | Response> {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorsOf(route)) {
    const { status } = ERROR_CATALOGUE[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  for (const status of OTHER_BAD_REQUEST_STATUSES) byStatus.set(status, ['bad_request']);
  const { isGuarded } = route;
  const described = [...byStatus].map(([status, codes]) => {
    const name = [...codes.map(pascalCase), ...(isGuarded ? ['Other'] : [])].join('Or');
    const make = () => errorResponse(status, codes, isGuarded);
    return [status, components.response(name, make)] as const;
  });
  const further = Object.entries(declared).filter(([status]) => /^([45]|default)/.test(status));
  return {
    ...Object.fromEntries(described),
    ...(isGuarded && { default: components.response('OtherError', () => OTHER_ERROR) }),
    ...Object.fromEntries(
      further.map(([status, one]) => [status, declaredResponse(status, one)] as const),
    ),
  };
}

/** Returns the error codes that a route can return. */
function errorsOf(route: Route): readonly ErrorCode[] {
  const { access, path, method, options, handler } = route;
  const hasBody = route.hasBody || takesNoBody(handler);
  const codes: (ErrorCode | false)[] = [
    'unauthorized',
    'rate_limit_exceeded',
    access !== 'any-key' && 'insufficient_scope',
    (hasBody || !allowsBody({ method: method.toUpperCase() })) && 'payload_too_large',
    hasBody && 'unsupported_media_type',
    'validation_error',
    'bad_request',
    path.includes('{') && 'not_found',
    ...(options?.errors ?? []),
    ...requestHeaderErrors(route),
    method === 'get' ? 'query_failed' : 'create_failed',
    'internal_error',
    'overloaded',
  ];
  return codes.filter((code) => code !== false);
}

/** The response of `@ApiResponse()`. */
function declaredResponse(status: string, declared: Partial<Response>): Response {
  const content = declared.content ?? { 'application/json': { schema: schemaRef('Error') } };
  return completed(status, declared, content, headersOf(Number(status)));
}

function headersOf(status: number): Record<string, Ref> {
  const header = HEADERS_BY_STATUS[status];
  return headersWith(...(header ? [header] : []));
}

/** The errors of a guard of a team do not have the headers of Latitude's errors of the same status. */
function optionalHeadersOf(status: number): Response['headers'] {
  const header = HEADERS_BY_STATUS[status];
  return { ...headersWith(), ...(header && { [header]: { ...HEADERS[header], required: false } }) };
}

const OTHER_ERROR: Response = {
  description: 'Any other error, such as one of a guard.',
  headers: headersWith(),
  content: { 'application/json': { schema: schemaRef('Error') } },
};

/** @param isGuarded whether the response can have other codes */
function errorResponse(status: number, codes: readonly ErrorCode[], isGuarded: boolean): Response {
  const meaning = (code: ErrorCode) => `\`${code}\`: ${ERROR_CATALOGUE[code].message}`;
  return {
    description: codes.map(meaning).join(' '),
    headers: isGuarded ? optionalHeadersOf(status) : headersOf(status),
    content: {
      'application/json': {
        schema: isGuarded ? schemaRef('Error') : errorSchemaOf(codes),
        examples: Object.fromEntries(codes.map((code) => [code, { value: exampleOf(code) }])),
      },
    },
  };
}

/** Narrows the schema `Error` to some codes. Linters require `unevaluatedProperties` for that. */
function errorSchemaOf(codes: readonly ErrorCode[]): Schema {
  const error: JsonSchema = {
    type: 'object',
    properties: { code: { type: 'string', enum: codes } },
    required: ['code'],
    unevaluatedProperties: true,
  };
  const narrowed: JsonSchema = { type: 'object', properties: { error }, required: ['error'] };
  return { allOf: [schemaRef('Error'), narrowed] };
}

function exampleOf(code: ErrorCode) {
  return new ApiError(code, EXAMPLES[code]).toEnvelope(HEADERS['X-Request-Id'].example);
}

function pascalCase(code: string): string {
  return code.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
