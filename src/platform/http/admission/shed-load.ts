import type { Server } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { sendError } from '../error.filter.js';
import { requiresKey } from '../guards/api-key.guard.js';
import { logger } from '../../config/logger.js';
import type { ConcurrencyLimit } from '../../data/gateway/policies.js';
import type { TimeBudget } from '../../data/gateway/time-budget.js';
import { ApiError } from '../../errors/api-error.js';
import { OVERLOAD_HEADERS } from '../../errors/overload.js';
import { type RateLimits, setRateLimitHeaders } from '../../access/limits/rate-limits.js';
import type { ApiRequest } from '../request/api-request.js';
import { AdmissionQueue } from './admission-queue.js';
import type { RequestObserver } from '../request/request-context.js';

const OVERLOADED = new ApiError('overloaded', { headers: OVERLOAD_HEADERS });
const LOG_EVERY_MS = 1_000;

/**
 * Makes requests wait while too many others are running, and rejects as `overloaded` those that wait too long
 * (docs/contract/errors.md#overload). Rejected requests are logged together to keep them cheap.
 * @param server the server of the requests
 * @param observe called for each request that is rejected or aborted
 */
export function shedLoad(
  server: Server,
  limit: ConcurrencyLimit,
  { admissionMs }: TimeBudget,
  limits: RateLimits,
  observe?: RequestObserver,
) {
  const queue = new AdmissionQueue(limit, admissionMs);
  // While more connections wait to be accepted, the queue admits fewer requests a turn of the event loop.
  server.on('connection', () => {
    queue.noteConnection();
  });
  let unserved = { rejected: 0, closed: 0 };

  const log = () => {
    logger.warn(unserved, 'requests were rejected as overloaded, or closed by their clients');
    unserved = { rejected: 0, closed: 0 };
  };

  return function shedLoad(request: Request, response: Response, next: NextFunction): void {
    // Paths that need no key, such as health checks and metrics, are always served.
    if (!requiresKey(request)) {
      next();
      return;
    }
    const finish = (status: number | null, errorCode?: string) => {
      if (unserved.rejected + unserved.closed === 0) setTimeout(log, LOG_EVERY_MS).unref();
      unserved[status === null ? 'closed' : 'rejected']++;
      const ms = performance.now() - (request as ApiRequest).state.receivedAt;
      observe?.({ method: request.method, route: null, status, ms, errorCode });
    };
    queue.receive({
      admit: next,
      reject: () => {
        finish(OVERLOADED.status, OVERLOADED.code);
        reject(request as ApiRequest, response, limits).catch(next);
      },
      abort: () => {
        finish(null);
      },
      onClose: (listener) => response.once('close', listener),
    });
  };
}

async function reject(request: ApiRequest, response: Response, limits: RateLimits): Promise<void> {
  setRateLimitHeaders(response, await limits.peek('reads', String(request.ip)));
  sendError(OVERLOADED, request, response);
}
