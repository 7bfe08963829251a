import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { randomUUID } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import { ApiError } from '../../errors/api-error.js';
import type { RateWindow } from '../../access/limits/rate-limit.storage.js';
import { type RateLimits, setRateLimitHeaders } from '../../access/limits/rate-limits.js';
import { isEventStream } from './graceful-shutdown.js';
import type { HttpAdapter } from './http-adapter.js';

const STATUS_BY_PARSER_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Maximum wait for earlier responses on the same connection. Responses are faster. */
const MAX_WAIT_MS = 5_000;
const POLL_INTERVAL_MS = 5;

/** Answers malformed HTTP requests (docs/contract/errors.md#malformed-http-requests). */
export function handleClientErrors(adapter: HttpAdapter, limits: RateLimits): void {
  /** Responds after the responses to earlier requests on the same connection. */
  const respondInOrder = async (socket: Socket, status?: number) => {
    const end = performance.now() + MAX_WAIT_MS;
    const pending = () => adapter.shutdown.pendingResponseOf(socket);
    while (isAwaited(pending()) && !socket.destroyed && performance.now() < end) {
      await after(POLL_INTERVAL_MS);
    }
    const earlier = pending();
    if (earlier?.req.complete || earlier?.headersSent || !socket.writable) socket.destroy();
    else respond(socket, await limits.peek('reads', String(socket.remoteAddress)), status);
  };
  // Storage of rate limits that fails leaves nothing to answer with.
  const answer = (socket: Socket, status?: number) => {
    respondInOrder(socket, status).catch(() => socket.destroy());
  };
  const server = adapter.getHttpServer() as Server;
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    // Data after a request with `Connection: close` gets no response.
    if (error.code === 'HPE_CLOSED_CONNECTION') return;
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else answer(socket, STATUS_BY_PARSER_CODE[error.code ?? '']);
  });
  server.on('connect', (_request: IncomingMessage, socket: Socket) => {
    answer(socket);
  });
}

function respond(socket: Socket, window: RateWindow, status = 400): void {
  const requestId = randomUUID();
  const body = JSON.stringify(new ApiError('bad_request', { status }).toEnvelope(requestId));
  const headers = new Map<string, string | number>([
    ['Content-Type', 'application/json; charset=utf-8'],
    ['Content-Length', Buffer.byteLength(body)],
    ['X-Request-Id', requestId],
    ['Connection', 'close'],
  ]);
  setRateLimitHeaders({ setHeader: (name, value) => headers.set(name, value) }, window);
  const lines = Array.from(headers, ([name, value]) => `${name}: ${value}`);
  const start = `HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? ''}`;
  socket.end([start, ...lines, '', body].join('\r\n'));
}

/** Whether a response to a complete request will end. An event stream ends only with its connection. */
function isAwaited(response: ServerResponse | undefined): boolean {
  return response?.req.complete === true && !isEventStream(response);
}
