import type { RequestListener } from 'node:http';
import type { Response } from 'express';
import type { Settings } from '../../config/settings.js';
import { ApiError } from '../../errors/api-error.js';
import { OVERLOAD_HEADERS } from '../../errors/overload.js';
import { setRateLimitHeaders, WINDOW_MS } from '../../access/limits/rate-limits.js';
import { sendError } from '../error.filter.js';
import type { ApiRequest } from '../request/api-request.js';
import { createExpress } from './express-app.js';

const STARTING = new ApiError('overloaded', {
  message: 'The service is starting. Retry after the seconds in Retry-After.',
  headers: OVERLOAD_HEADERS,
});

const NOT_CACHED = { 'Cache-Control': 'no-store' };

/** Handles requests while the database is migrated: live, not ready, and 503 for all others. */
export function startingListener({ readsPerMinute: limit }: Settings): RequestListener {
  const app = createExpress();
  app.get('/health/live', (_request, response) => {
    response.set(NOT_CACHED).json({ status: 'ok' });
  });
  app.get('/health/ready', (_request, response) => {
    response.status(503).set(NOT_CACHED).json({ status: 'unavailable', reason: 'migrating' });
  });
  return (request, response) => {
    const [asked, answer] = [request as ApiRequest, response as Response];
    // Express runs no handler for a target that is no URL.
    app(asked, answer, () => {
      setRateLimitHeaders(answer, { totalHits: 0, limit, endsAt: Date.now() + WINDOW_MS });
      sendError(STARTING, asked, answer);
    });
  };
}
