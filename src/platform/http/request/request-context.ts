import type { NextFunction, Request, Response } from 'express';
import { logger } from '../../config/logger.js';
import {
  endRequest,
  inContextOf,
  readTraceparent,
  startRequest,
  traceOfLog,
  traceparentOf,
} from '../../tracing.js';
import { type ApiRequest, routeOf } from './api-request.js';

/** A request that has been answered or aborted. */
export interface FinishedRequest {
  readonly method: string;
  /** Pattern of the route. The URL is not recorded because it can contain personal data. */
  readonly route: string | null;
  /** Null if the response was not sent completely. */
  readonly status: number | null;
  readonly ms: number;
  readonly errorCode: string | undefined;
}

/** Called when a request has ended. */
export type RequestObserver = (finished: FinishedRequest) => void;

/**
 * Middleware that logs each request when it has ended, and normalizes its path.
 * @param observe called in addition to logging
 */
export function requestContext(observe?: RequestObserver) {
  return function requestContext(request: Request, response: Response, next: NextFunction): void {
    const apiRequest = request as ApiRequest;
    const { state } = apiRequest;
    // Closed sockets have no address.
    state.clientAddress = request.ip;
    const span = startSpan(request, state.receivedAt);
    state.traceparent = traceparentOf(span, readTraceparent(request.headers));
    response.on('close', () => {
      const finished = {
        method: request.method,
        route: routeOf(apiRequest),
        status: response.writableFinished ? response.statusCode : null,
        ms: performance.now() - state.receivedAt,
        errorCode: state.errorCode,
      };
      logRequest(apiRequest, finished);
      observe?.(finished);
      if (span) endRequest(span, finished);
    });
    request.url = toRoutableUrl(request.url);
    if (span) inContextOf(span, next);
    else next();
  };
}

/** Probes and scrapes come every few seconds and have no spans. */
const PROBED_PATHS = /^\/(health|metrics)(\/|$)/;

function startSpan({ method, path, secure, headers }: Request, receivedAt: number) {
  return PROBED_PATHS.test(path) ? undefined : startRequest(method, secure, headers, receivedAt);
}

function logRequest({ state }: ApiRequest, { method, route, status, ms }: FinishedRequest): void {
  const { call, clientAddress, requestId, traceparent } = state;
  const line = {
    method,
    route,
    status,
    ms: Math.round(ms * 10) / 10,
    organization_id: call?.tenant.id ?? null,
    key_id: call?.actor.key.id ?? null,
    ...(call?.actor.key.subject !== undefined && { subject: call.actor.key.subject }),
    client_address: clientAddress ?? null,
    request_id: requestId,
    ...traceOfLog(traceparent),
  };
  logger[(status ?? 0) >= 500 ? 'error' : 'info'](line, 'request');
}

/**
 * Makes the router accept every path. The asterisk of `OPTIONS *` becomes a path without a route. A path that is no
 * percent-encoded UTF-8, or that has a `%00`, which PostgreSQL cannot store, is not decoded: it would fail before the
 * guards, or in a statement.
 */
function toRoutableUrl(url: string): string {
  if (url === '*') return '/*';
  if (!url.includes('%')) return url;
  const [path = ''] = url.split('?', 1);
  return isDecodable(path) ? url : path.replaceAll('%', '%25') + url.slice(path.length);
}

function isDecodable(path: string): boolean {
  try {
    return !decodeURIComponent(path).includes('\0');
  } catch {
    return false;
  }
}
