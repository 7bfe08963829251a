import type { Server } from 'node:http';
import type { NextFunction, Request, Response } from 'express';
import { sendError } from './error.filter.js';
import { logger } from '../config/logger.js';
import type { ConcurrencyLimit, TimeBudget } from '../data/gateway/policies.js';
import { ApiError } from '../errors/api-error.js';
import { OVERLOAD_HEADERS } from '../errors/overload.js';
import { type RateLimits, setRateLimitHeaders } from '../access/limits/rate-limits.js';
import type { ApiRequest } from './request/api-request.js';
import type { RequestObserver } from './request/request-context.js';
import type { RoutePlans } from './route-plans.js';

const CHECK_INTERVAL_MS = 10;

/**
 * How many waiting requests are admitted in one turn of the event loop. Node accepts one connection in each turn, so
 * that long turns would delay new connections. While connections arrive, one request is admitted in a turn.
 */
const ADMISSIONS_PER_TURN = 8;

/** A request that is not admitted yet. */
export interface PendingRequest {
  admit(): void;
  reject(): void;
  /** The client has closed the connection before the request was admitted or rejected. */
  abort(): void;
  /** @param listener called when the response or its connection is closed */
  onClose(listener: () => void): void;
}

/**
 * Admits requests up to the concurrency limit. The others wait in order of arrival, and are rejected when they have
 * waited too long.
 */
export class AdmissionQueue {
  /** The waiting requests in order of arrival, and when they arrived. */
  private readonly waiting = new Map<PendingRequest, number>();
  /** Runs while requests wait. */
  private checks: NodeJS.Timeout | undefined;
  private isAdmitting = false;
  /** Whether the server has accepted a connection since requests were last admitted. */
  private hasNewConnection = false;

  /** @param maxWaitMs how long a request may wait */
  constructor(
    private readonly limit: ConcurrencyLimit,
    private readonly maxWaitMs: number,
  ) {
    limit.onRelease(() => {
      this.admitSoon();
    });
  }

  /** Admits or rejects a request, immediately or later. */
  receive(request: PendingRequest): void {
    if (this.waiting.size === 0 && !this.limit.isReached) {
      request.admit();
      return;
    }
    this.waiting.set(request, performance.now());
    request.onClose(() => {
      if (this.waiting.delete(request)) request.abort();
    });
    // Admitted requests do not always use the database, so `onRelease` alone is not sufficient.
    this.checks ??= setInterval(() => {
      this.check();
    }, CHECK_INTERVAL_MS);
  }

  /**
   * Records that the server has accepted a connection. More connections may wait to be accepted, so that the next
   * turn of the event loop has to be short.
   */
  noteConnection(): void {
    this.hasNewConnection = true;
  }

  private check(): void {
    this.admitSoon();
    const now = performance.now();
    for (const [request, arrivedAt] of this.waiting) {
      if (now - arrivedAt < this.maxWaitMs) break;
      this.waiting.delete(request);
      request.reject();
    }
    if (this.waiting.size > 0) return;
    clearInterval(this.checks);
    this.checks = undefined;
  }

  private admitSoon(): void {
    if (this.isAdmitting || this.waiting.size === 0 || this.limit.isReached) return;
    this.isAdmitting = true;
    setImmediate(() => {
      this.isAdmitting = false;
      let free = Math.min(this.limit.available, this.hasNewConnection ? 1 : ADMISSIONS_PER_TURN);
      this.hasNewConnection = false;
      for (const request of this.waiting.keys()) {
        if (free-- <= 0) break;
        this.waiting.delete(request);
        request.admit();
      }
      this.admitSoon();
    });
  }
}

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
  plans: RoutePlans,
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
    if (!plans.requiresKey(request)) {
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
