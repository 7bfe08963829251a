import { ApiError } from '../../errors/api-error.js';
import { type ApiRequest, isMcpRequest, timesSent } from '../request/api-request.js';

const CONTINUE = '100-continue';

const LOOPBACK = /^https?:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

/** @returns why a request is refused for its `Host` or `Expect`; undefined if it is not */
export function refusalOfHeaders(request: ApiRequest): ApiError | undefined {
  if (!hasOneHost(request)) {
    return new ApiError('bad_request', { message: 'Send exactly one Host header.' });
  }
  const { expect = CONTINUE } = request.headers;
  if (expect.toLowerCase() === CONTINUE) return undefined;
  const message = `The only supported Expect is ${CONTINUE}.`;
  return new ApiError('bad_request', { status: 417, message });
}

/**
 * Protects /mcp against DNS rebinding.
 * @param allowed origins, and `loopback` for those of this machine
 * @returns why a request is refused for its `Origin`; undefined if it is not
 */
export function refusalOfOrigin(
  request: ApiRequest,
  allowed: readonly string[],
): ApiError | undefined {
  const { origin } = request.headers;
  if (origin === undefined || !isMcpRequest(request) || allowed.includes(origin)) return undefined;
  if (allowed.includes('loopback') && LOOPBACK.test(origin)) return undefined;
  return new ApiError('origin_not_allowed');
}

function hasOneHost(request: ApiRequest): boolean {
  const hosts = timesSent(request, 'host');
  return hosts === 1 || (hosts === 0 && request.httpVersion === '1.0');
}
