import { LatitudeApiError, LatitudeConnectionError, type LatitudeError } from './errors.js';
import { retryAfterMs } from './retry-policy.js';
import type { components } from './openapi.js';

/** The body of an error response. A proxy or a later version can leave out a part. */
interface ErrorBody {
  readonly error?: Partial<components['schemas']['Error']['error']>;
}

const tags = new WeakMap<object, string>();

/**
 * The entity tag of a record that a client received from `get`, `create` or `update`, for `ifMatch`.
 * Undefined for any other object, such as an item of a list or a copy.
 */
export function etagOf(record: object): string | undefined {
  return tags.get(record);
}

/** A failed attempt: the error, and whether and when to try again. */
export class FailedAttempt {
  constructor(
    readonly error: LatitudeError,
    /**
     * Whether the request may be repeated: after a failed connection, and after a 429, a 5xx or an idempotency
     * key in use, unless the response says that it is not retryable.
     */
    readonly isWorthRetrying = true,
    readonly retryAfterMs = 0,
  ) {}
}

/** The state of a call before its response. */
interface CallState {
  readonly isWrite: boolean;
  readonly wasUncertain: boolean;
  readonly isFile?: boolean | undefined;
}

/**
 * Statuses of a repeated write that do not tell whether an earlier attempt was carried out. For 412, that attempt may have
 * changed the ETag itself.
 */
const UNRELATED_STATUSES = [401, 403, 412];

/**
 * Parses a complete response, and keeps the entity tag of the record in it.
 * @returns the body of a successful response, which is a string if it is a file
 */
export function parseResponse(
  response: Response,
  text: string,
  { isWrite, wasUncertain, isFile = false }: CallState,
): unknown {
  const { status, headers } = response;
  const requestId = headers.get('x-request-id') ?? undefined;
  const isSuccess = status >= 200 && status < 300;
  if (isFile && isSuccess) return text;
  const body = parse(text);
  if (isSuccess) {
    if (isObject(body) && 'data' in body) {
      const etag = headers.get('etag');
      if (etag !== null && isObject(body.data)) tags.set(body.data, etag);
      return body;
    }
    const message = `HTTP ${status}: the response was cut off or is not JSON of the API`;
    const options = { status, requestId, retryable: true, uncertain: isWrite || wasUncertain };
    const error = new LatitudeConnectionError(message, { code: 'invalid_response', ...options });
    return new FailedAttempt(error);
  }
  const { error } = (isObject(body) ? body : {}) as ErrorBody;
  const code = error?.code ?? 'unexpected_response';
  // An overloaded server has not processed the request. Any other 5xx may follow a commit.
  const isOutcomeUnknown = isWrite && status >= 500 && code !== 'overloaded';
  const isTransient = status === 429 || status >= 500 || code === 'idempotency_key_in_use';
  const tellsNothing = isTransient || UNRELATED_STATUSES.includes(status);
  const options = {
    status,
    code,
    retryable: error?.retryable ?? isTransient,
    uncertain: isOutcomeUnknown || (wasUncertain && tellsNothing),
    details: error?.details,
    requestId: error?.request_id ?? requestId,
  };
  const message = error?.message ?? describeUnexpected(response);
  return new FailedAttempt(
    new LatitudeApiError(message, options),
    options.retryable && isTransient,
    retryAfterMs(headers.get('retry-after')),
  );
}

function describeUnexpected({ status, type, headers }: Response): string {
  const location = headers.get('location');
  if (type === 'opaqueredirect' || (status >= 300 && status < 400)) {
    return `The address redirects${location ? ` to ${location}` : ''}: use its target as baseUrl.`;
  }
  return `HTTP ${status}, not in the form of the API.`;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
