import { type ArgumentsHost, createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { RoutePlan } from '../routes/route-plan.js';
import type { Call } from '../../data/call.js';

/** What the steps of a request pass on to later steps. */
export class RequestState {
  /** Time of receipt, in milliseconds of `performance.now()`. */
  readonly receivedAt = performance.now();
  /** Value of the response header `X-Request-Id`. */
  requestId = '';
  /** The trace of the request: of its span, otherwise of its header. */
  traceparent: string | undefined = undefined;
  /** What the handler declares. The first guard sets it. */
  plan: RoutePlan | undefined = undefined;
  /** Address of the client. Behind trusted proxies, it is the address that they forward. */
  clientAddress: string | undefined = undefined;
  /** Set if the request carries a valid key. */
  call: Call | undefined = undefined;
  /** Added to `WWW-Authenticate` of a 401, if the caller can get an access token. */
  challenge = '';
  /** Set if the response is an error. */
  errorCode: string | undefined = undefined;
  /** Set if the client waits for `100 Continue` before it sends the body. */
  sendContinue: (() => void) | undefined = undefined;
  /** Gives the client more time to send the body. Set while the body is not complete. */
  extendTimeout: ((ms: number) => void) | undefined = undefined;
}

/** A request of the application. The HTTP adapter creates its state. */
export interface ApiRequest extends Request {
  readonly state: RequestState;
}

/** The request of a context. It creates no functions, unlike `switchToHttp()`. */
export function requestOf(context: ArgumentsHost): ApiRequest {
  return context.getArgByIndex(0);
}

/** The response of a context. */
export function responseOf(context: ArgumentsHost): Response {
  return context.getArgByIndex(1);
}

/** Injects the `Call` of a route that requires a key: who calls, for which organization, and how. */
export const CurrentCall = createParamDecorator((_: unknown, context: ExecutionContext): Call => {
  const { call } = requestOf(context).state;
  if (!call) throw new Error('@CurrentCall() is used on a route that requires no key');
  return call;
});

/** Returns the pattern of the route. The URL itself can hold personal data. */
export function routeOf({ route }: ApiRequest): string | null {
  return (route as { path?: string } | undefined)?.path ?? null;
}

/**
 * Counts how often a header was sent. Node keeps only the first value of some headers.
 * @param header the name in lower case
 */
export function timesSent({ rawHeaders }: ApiRequest, header: string): number {
  let count = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const raw = rawHeaders[i];
    if (raw?.length === header.length && raw.toLowerCase() === header) count++;
  }
  return count;
}

const READ_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether a request is a read. Every other request counts as a write. */
export function isRead({ method }: Pick<ApiRequest, 'method'>): boolean {
  return READ_METHODS.has(method);
}

/** Whether this is a CORS preflight request whose headers the CORS middleware has set. */
export function isPreflight({ method, headers }: ApiRequest, response: Response): boolean {
  return (
    method === 'OPTIONS' &&
    headers['access-control-request-method'] !== undefined &&
    response.hasHeader('Access-Control-Allow-Origin')
  );
}
