import type { OutgoingHttpHeaders, RequestListener, ServerResponse } from 'node:http';
import type { Settings } from '../../config/settings.js';
import { ApiError } from '../../errors/api-error.js';
import { OVERLOAD_HEADERS } from '../../errors/overload.js';
import { setRateLimitHeaders, WINDOW_MS } from '../../access/limits/rate-limits.js';
import type { ApiRequest } from '../request/api-request.js';

const STARTING = new ApiError('overloaded', {
  message: 'The service is starting. Retry after the seconds in Retry-After.',
});

/** Handles requests while the database is migrated: live, not ready, and 503 for all others. */
export function startingListener({ readsPerMinute }: Settings): RequestListener {
  return (request, response) => {
    const path = request.url?.split('?', 1)[0];
    const isProbe = request.method === 'GET' || request.method === 'HEAD';
    if (isProbe && path === '/health/live') send(response, 200, { status: 'ok' });
    else if (isProbe && path === '/health/ready') {
      send(response, 503, { status: 'unavailable', reason: 'migrating' });
    } else {
      const endsAt = Date.now() + WINDOW_MS;
      setRateLimitHeaders(response, { totalHits: 0, limit: readsPerMinute, endsAt });
      const { requestId } = (request as ApiRequest).state;
      send(response, STARTING.status, STARTING.toEnvelope(requestId), OVERLOAD_HEADERS);
    }
  };
}

const NOT_CACHED = { 'Cache-Control': 'no-store' };

function send(
  response: ServerResponse,
  status: number,
  body: object,
  headers: OutgoingHttpHeaders = NOT_CACHED,
): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    ...headers,
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
  });
  response.end(text);
}
