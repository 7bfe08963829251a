import type { NextFunction, Request, Response } from 'express';
import { logger } from '../../config/logger.js';
import type { ErrorCode } from '../../errors/error-catalogue.js';
import { type ApiRequest, routeOf } from './api-request.js';
import { requestIdOf } from './request-id.js';

/** A request that has been answered, or was broken off. */
export interface FinishedRequest {
  readonly method: string;
  /** Never the URL, which can hold personal data: the pattern of the route. */
  readonly route: string | null;
  /** Null where the answer did not get to its end. */
  readonly status: number | null;
  readonly ms: number;
  readonly errorCode: ErrorCode | undefined;
}

/** What is done when a request has ended. */
export type RequestObserver = (finished: FinishedRequest) => void;

/**
 * What every request that is let in gets: its id, its line in the log, and a path that can be routed.
 * @param observe what else is done than logging it
 */
export function requestContext(observe?: RequestObserver) {
  return function requestContext(request: Request, response: Response, next: NextFunction): void {
    const apiRequest = request as ApiRequest;
    const { state } = apiRequest;
    state.requestId = requestIdOf(request);
    // A socket that is closed has forgotten its address.
    state.clientAddress = request.ip;
    response.setHeader('X-Request-Id', state.requestId);
    response.once('close', () => {
      const finished = summarize(apiRequest, response, performance.now() - state.receivedAt);
      logRequest(apiRequest, finished);
      observe?.(finished);
    });
    request.url = toRoutableUrl(request.url);
    next();
  };
}

function summarize(request: ApiRequest, response: Response, ms: number): FinishedRequest {
  return {
    method: request.method,
    route: routeOf(request),
    status: response.writableFinished ? response.statusCode : null,
    ms,
    errorCode: request.state.errorCode,
  };
}

function logRequest({ state }: ApiRequest, { method, route, status, ms }: FinishedRequest): void {
  const { actor, clientAddress, requestId } = state;
  const line = {
    method,
    route,
    status,
    ms: Math.round(ms * 10) / 10,
    organization_id: actor?.organization.id ?? null,
    key_id: actor?.key.id ?? null,
    client_address: clientAddress ?? null,
    request_id: requestId,
  };
  if ((status ?? 0) >= 500) logger.error(line, 'request');
  else logger.info(line, 'request');
}

/**
 * The asterisk of `OPTIONS *` and a path whose escapes cannot be decoded name no resource. They
 * become paths that take the way of every unknown one, instead of failing before the guards.
 */
function toRoutableUrl(url: string): string {
  if (url === '*') return '/*';
  const end = url.indexOf('?');
  const path = end === -1 ? url : url.slice(0, end);
  if (!path.includes('%')) return url;
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return path.replaceAll('%', '%25') + url.slice(path.length);
  }
}
