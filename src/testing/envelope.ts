import type { Answer } from './api-client.js';

export const ANSWER_TYPE = 'application/json; charset=utf-8';

/** Expects exactly the error body (docs/contract/errors.md#error-body), without details. */
export function expectEnvelope(
  { status, headers, body }: Answer,
  expected: { status: number; code: string; retryable?: boolean },
): void {
  expect({ status, body: body as unknown }).toEqual({
    status: expected.status,
    body: {
      error: {
        code: expected.code,
        message: expect.stringMatching(/^\S.*\S$/) as string,
        retryable: expected.retryable ?? false,
        request_id: headers.get('x-request-id'),
      },
    },
  });
  expect(headers.get('content-type')).toBe(ANSWER_TYPE);
}
