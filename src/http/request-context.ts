import { randomUUID } from 'node:crypto';
import type { NextFunction, Request, Response } from 'express';
import { logger } from '../config/logger.js';
import { ApiError } from '../errors/api-error.js';
import type { ApiRequest } from '../tenancy/actor.js';

const ACCEPTABLE_ID = /^[!-~]{1,128}$/;

/** The first step of every request: its id, its line in the log, and a path that can be routed. */
export function requestContext(request: Request, response: Response, next: NextFunction): void {
  const started = performance.now();
  const apiRequest = request as ApiRequest;
  const sent = request.headers['x-request-id'];
  apiRequest.requestId = typeof sent === 'string' && ACCEPTABLE_ID.test(sent) ? sent : randomUUID();
  response.setHeader('X-Request-Id', apiRequest.requestId);
  response.once('close', () => {
    logRequest(apiRequest, response, performance.now() - started);
  });
  if (!hasOneHost(request)) {
    next(new ApiError('bad_request', { message: 'Send exactly one Host header.' }));
    return;
  }
  request.url = routable(request.url);
  next();
}

/** Never the URL, which can hold personal data: the pattern of the route. */
function logRequest(request: ApiRequest, response: Response, elapsed: number): void {
  const route = request.route as { path?: string } | undefined;
  const line = {
    method: request.method,
    route: route?.path ?? null,
    status: response.writableFinished ? response.statusCode : null,
    ms: Math.round(elapsed * 10) / 10,
    organization_id: request.actor?.organization.id ?? null,
    key_id: request.actor?.key.id ?? null,
    request_id: request.requestId,
  };
  if (response.statusCode >= 500) logger.error(line, 'request');
  else logger.info(line, 'request');
}

function hasOneHost({ rawHeaders, httpVersion }: Request): boolean {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (rawHeaders[i]?.toLowerCase() === 'host') count++;
  }
  return count === 1 || (count === 0 && httpVersion === '1.0');
}

/**
 * The asterisk of `OPTIONS *` and a path whose escapes cannot be decoded name no resource. They
 * become paths that take the way of every unknown one, instead of failing before the guards.
 */
function routable(url: string): string {
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
