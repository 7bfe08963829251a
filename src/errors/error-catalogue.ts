/**
 * Every error code of the API with its HTTP status, whether the same request may be
 * repeated as it is, and the message where the place that raises it gives none
 * (api.md part 7, decisions 2).
 */
export const ERROR_CATALOGUE = {
  bad_request: entry(400, false, 'The request could not be read.'),
  validation_error: entry(400, false, 'The request is not valid.'),
  unauthorized: entry(401, false, 'The API key is missing, invalid or expired.'),
  insufficient_scope: entry(403, false, 'The API key lacks a scope that this needs.'),
  not_found: entry(404, false, 'There is no such resource.'),
  lead_not_found: entry(404, false, 'There is no such lead.'),
  duplicate: entry(409, false, 'The record violates a unique constraint.'),
  payload_too_large: entry(413, false, 'The request body is too large.'),
  unsupported_media_type: entry(415, false, 'Send the body as application/json in UTF-8.'),
  compliance_blocked: entry(422, false, 'The lead must not be contacted.'),
  rate_limit_exceeded: entry(429, true, 'Too many requests in the current window.'),
  query_failed: entry(500, true, 'The database read failed. Try again.'),
  create_failed: entry(500, true, 'The database write failed. Try again with the same body.'),
  internal_error: entry(500, true, 'An unexpected error occurred.'),
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERROR_CATALOGUE;

export interface CatalogueEntry {
  readonly status: number;
  readonly retryable: boolean;
  readonly message: string;
}

function entry(status: number, retryable: boolean, message: string): CatalogueEntry {
  return { status, retryable, message };
}
