import type { RegisteredExtension } from '../config/registered-extensions.js';
import type { ProblemDetail } from './field-problem.js';

/** The error codes of the platform. Those of a module are in its extension (docs/contract/errors.md#codes). */
const CORE_ERRORS = {
  bad_request: permanent(400, 'The request could not be read.', 'Send a valid request.'),
  validation_error: {
    ...permanent(
      400,
      'The request is not valid.',
      'Nothing was changed. Correct the named parameters and call again.',
    ),
    example: {
      message: 'limit must be an integer from 1 to 100.',
      details: [{ field: 'limit', message: 'must be an integer from 1 to 100' }],
    },
  },
  unauthorized: permanent(
    401,
    'The API key is missing, invalid or expired.',
    'Ask the user for a valid key.',
  ),
  insufficient_scope: permanent(
    403,
    'The API key lacks the required scope.',
    'Do not retry. Ask the user for a key that has the scope.',
  ),
  not_found: permanent(
    404,
    'There is no such resource.',
    'Look up the id with the tool that lists these records.',
  ),
  duplicate: {
    ...permanent(
      409,
      'The record violates a unique constraint.',
      'Nothing was changed. Use or update the existing record, or give another value.',
    ),
    example: {
      message: 'Another lead has this email.',
      details: [
        {
          field: 'email',
          message: 'belongs to another lead',
          existing_id: '01a1fbde-995e-72a3-a032-ab1c988b9794',
        },
      ],
    },
  },
  idempotency_key_in_use: temporary(
    409,
    'A request with this Idempotency-Key is in progress.',
    'Repeat the same call in a few seconds.',
  ),
  precondition_failed: permanent(
    412,
    'The record is not the version that If-Match names.',
    'Nothing was changed. Read the record again before you change it.',
  ),
  payload_too_large: permanent(413, 'The request body is too large.', 'Send a smaller body.'),
  unsupported_media_type: permanent(
    415,
    'Send the body as application/json in UTF-8.',
    'Set Content-Type to application/json.',
  ),
  filter_too_broad: permanent(
    422,
    'The filter takes too long, because no index serves some of its conditions.',
    'Add a condition that an index serves, such as a window of created_at.',
  ),
  idempotency_key_reused: permanent(
    422,
    'This Idempotency-Key was used with another request.',
    'Nothing was done. Use a new key for a new request.',
  ),
  rate_limit_exceeded: temporary(
    429,
    'Too many requests in the current window.',
    'Nothing was done. Wait until the window ends and repeat the same call.',
  ),
  query_failed: temporary(
    500,
    'The database read failed. Try again.',
    'Repeat the same call in a few seconds.',
  ),
  create_failed: temporary(
    500,
    'The database write failed. Try again with the same body.',
    'Repeat the same call in a few seconds.',
  ),
  internal_error: temporary(
    500,
    'An unexpected error occurred.',
    'Repeat the same call once; if it fails again, tell the user the request_id.',
  ),
  overloaded: temporary(
    503,
    'The service is overloaded.',
    'Nothing was done. Wait for the seconds in Retry-After and repeat the same call.',
  ),
} as const satisfies Record<string, CatalogueEntry>;

/** A code of Latitude or of an extension. */
export type ErrorCode = keyof typeof CORE_ERRORS | CodesOf<RegisteredExtension>;

type CodesOf<E> = E extends { errors: Readonly<Record<infer C extends string, CatalogueEntry>> }
  ? C
  : never;

export interface CatalogueEntry {
  /** HTTP status. */
  readonly status: number;
  /** Whether the same request may be retried. */
  readonly retryable: boolean;
  /** The default message, for the developer of a client. */
  readonly message: string;
  /** What an agent should do, as one sentence. */
  readonly advice: string;
  /** What an error says, for the documents. Default: the message. */
  readonly example?: { readonly message: string; readonly details: readonly ProblemDetail[] };
}

const catalogue: Record<string, CatalogueEntry> = { ...CORE_ERRORS };

/** Every error code of Latitude and of all defined extensions. */
export const ERROR_CATALOGUE = catalogue as Readonly<Record<ErrorCode, CatalogueEntry>>;

/** The catalogue in the order of the documents: by status. */
export function documentedErrors(): [code: string, entry: CatalogueEntry][] {
  return Object.entries(catalogue).sort(([, a], [, b]) => a.status - b.status);
}

/** Whether Latitude itself has an error code. */
export function isCoreError(code: string): boolean {
  return Object.hasOwn(CORE_ERRORS, code);
}

/** Adds the error codes of an extension. Codes of Latitude keep their meaning. */
export function declareErrors(errors: Readonly<Record<string, CatalogueEntry>>): void {
  Object.assign(catalogue, errors, CORE_ERRORS);
}

/** An error that the same request causes again. */
function permanent(status: number, message: string, advice: string): CatalogueEntry {
  return { status, retryable: false, message, advice };
}

/** An error that the same request may not cause later. */
function temporary(status: number, message: string, advice: string): CatalogueEntry {
  return { status, retryable: true, message, advice };
}
