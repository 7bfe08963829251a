import {
  type CatalogueEntry,
  ERROR_CATALOGUE,
} from '../../../src/platform/errors/error-catalogue.js';
import type { Answer } from '../../../src/testing/api-client.js';
import type { ErrorBody } from '../../../src/testing/factories.js';

const CATALOGUE: Readonly<Record<string, CatalogueEntry>> = ERROR_CATALOGUE;

const LIMIT_HEADERS = ['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'];

/**
 * Expects what applies to every response of the API: no 5xx, the envelope around every error except
 * those of JSON-RPC, and the headers of every response
 * (docs/contract/endpoints.md#responses).
 */
export function expectWellFormed({ status, headers, body }: Answer, isHead = false): void {
  expect({ status, body: body as unknown, isServerError: status >= 500 }).toMatchObject({
    isServerError: false,
  });
  expect(LIMIT_HEADERS.filter((name) => !/^\d+$/.test(headers.get(name) ?? ''))).toEqual([]);
  expect(headers.get('x-request-id')).toMatch(/^[!-~]{1,128}$/);
  if (status === 401) expect(headers.get('www-authenticate')).toBe('Bearer realm="latitude"');
  const isJsonRpc = (body as { jsonrpc?: unknown } | undefined)?.jsonrpc === '2.0';
  if (status >= 400 && !isHead && !isJsonRpc) expectError({ status, headers, body });
}

function expectError({ status, headers, body }: Answer): void {
  const { code, ...error } = (body as { error: ErrorBody }).error;
  const { status: known, retryable } = CATALOGUE[code] ?? {};
  // Node's own refusals have several statuses (docs/contract/errors.md#malformed-http-requests).
  const expected = code === 'bad_request' ? status : known;
  expect({ code, status, error }).toEqual({
    code,
    status: expected,
    error: {
      message: expect.stringMatching(/\S/) as string,
      retryable,
      request_id: headers.get('x-request-id'),
      ...(error.details && { details: error.details }),
    },
  });
  if (code === 'validation_error') expect(error.details?.length).toBeGreaterThan(0);
}
