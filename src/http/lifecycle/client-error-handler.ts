import http, { type IncomingMessage, type Server } from 'node:http';
import type { Socket } from 'node:net';
import { randomUUID } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import { type HttpServer, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiError } from '../../errors/api-error.js';
import { RateLimits, setRateLimitHeaders } from '../../rate-limit/rate-limits.js';
import { pendingResponseOf } from './node-internals.js';

const STATUS_BY_PARSER_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Maximum wait for earlier responses on the same connection. Responses are faster. */
const MAX_WAIT_MS = 5_000;
const POLL_INTERVAL_MS = 5;

/** Answers malformed HTTP requests (docs/contract/errors.md#malformed-http-requests). */
@Injectable()
export class ClientErrorHandler implements OnApplicationBootstrap {
  constructor(
    private readonly host: HttpAdapterHost,
    private readonly limits: RateLimits,
  ) {}

  onApplicationBootstrap(): void {
    const { httpAdapter } = this.host as { httpAdapter: HttpServer | null };
    // The command line has no server.
    if (!httpAdapter) return;
    const server = httpAdapter.getHttpServer() as Server;
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
      // Data after a request with `Connection: close` gets no response.
      if (error.code === 'HPE_CLOSED_CONNECTION') return;
      if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
      else void this.respondInOrder(socket, STATUS_BY_PARSER_CODE[error.code ?? '']);
    });
    server.on('connect', (_request: IncomingMessage, socket: Socket) => {
      void this.respondInOrder(socket);
    });
  }

  /** Responds after the responses to earlier requests on the same connection. */
  private async respondInOrder(socket: Socket, status?: number): Promise<void> {
    const end = performance.now() + MAX_WAIT_MS;
    while (isResponsePending(socket) && !isStreaming(socket) && performance.now() < end) {
      await after(POLL_INTERVAL_MS);
    }
    if (isResponsePending(socket) || pendingResponseOf(socket)?.headersSent || !socket.writable)
      socket.destroy();
    else await this.respond(socket, status);
  }

  private async respond(socket: Socket, status = 400): Promise<void> {
    const requestId = randomUUID();
    const body = JSON.stringify(new ApiError('bad_request', { status }).toEnvelope(requestId));
    const headers = new Map<string, string | number>([
      ['Content-Type', 'application/json; charset=utf-8'],
      ['Content-Length', Buffer.byteLength(body)],
      ['X-Request-Id', requestId],
      ['Connection', 'close'],
    ]);
    const window = await this.limits.peek('reads', String(socket.remoteAddress));
    setRateLimitHeaders({ setHeader: (name, value) => headers.set(name, value) }, window);
    const lines = Array.from(headers, ([name, value]) => `${name}: ${value}`);
    const start = `HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? ''}`;
    socket.end([start, ...lines, '', body].join('\r\n'));
  }
}

/** Whether an earlier, complete request on the connection has no complete response yet. */
function isResponsePending(socket: Socket): boolean {
  return !socket.destroyed && pendingResponseOf(socket)?.req.complete === true;
}

/** Whether the pending response is an event stream, which ends only with its connection. */
function isStreaming(socket: Socket): boolean {
  return pendingResponseOf(socket)?.getHeader('Content-Type') === 'text/event-stream';
}
