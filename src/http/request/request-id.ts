import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const VALID_REQUEST_ID = /^[!-~]{1,128}$/;

/**
 * The caller's own `X-Request-Id` where it can be kept, a new one otherwise
 * (docs/contract/errors.md#request-id).
 */
export function requestIdOf({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && VALID_REQUEST_ID.test(sent) ? sent : randomUUID();
}
