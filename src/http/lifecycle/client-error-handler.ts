import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { randomUUID } from 'node:crypto';
import { setTimeout as after } from 'node:timers/promises';
import { type HttpServer, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiError } from '../../errors/api-error.js';
import { RateLimits, setRateLimitHeaders } from '../../rate-limit/rate-limits.js';

const STATUS_BY_PARSER_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Longer than an answer takes. */
const MAX_WAIT_MS = 5_000;
const POLL_INTERVAL_MS = 5;

/**
 * Gives the envelope to what Node refuses before there is a request
 * (docs/contract/errors.md#malformed-http-requests).
 */
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
      // What follows a request that is the last of its connection is nothing to answer.
      if (error.code === 'HPE_CLOSED_CONNECTION') return;
      if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
      else void this.respondInOrder(socket, STATUS_BY_PARSER_CODE[error.code ?? '']);
    });
    server.on('connect', (_request: IncomingMessage, socket: Socket) => {
      void this.respondInOrder(socket);
    });
  }

  /** Behind the answers to earlier requests on the same connection. */
  private async respondInOrder(socket: Socket, status?: number): Promise<void> {
    const end = performance.now() + MAX_WAIT_MS;
    while (isResponsePending(socket) && !isStreaming(socket) && performance.now() < end) {
      await after(POLL_INTERVAL_MS);
    }
    if (isResponsePending(socket) || areHeadersSent(socket) || !socket.writable) socket.destroy();
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
    const state = await this.limits.peek('reads', String(socket.remoteAddress));
    setRateLimitHeaders({ setHeader: (name, value) => headers.set(name, value) }, state);
    const lines = Array.from(headers, ([name, value]) => `${name}: ${value}`);
    const start = `HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? ''}`;
    socket.end([start, ...lines, '', body].join('\r\n'));
  }
}

type RespondingSocket = Socket & { _httpMessage?: ServerResponse | null };

/** Whether a request that came in full before, on the same connection, is still to be answered. */
function isResponsePending({ _httpMessage: answer, destroyed }: RespondingSocket): boolean {
  return !destroyed && answer?.req.complete === true;
}

/** Whether that answer ends only with its connection. */
function isStreaming({ _httpMessage: answer }: RespondingSocket): boolean {
  return answer?.getHeader('Content-Type') === 'text/event-stream';
}

/** Whether a part of an answer was sent, so that nothing else can be. */
function areHeadersSent({ _httpMessage: answer }: RespondingSocket): boolean {
  return answer?.headersSent === true;
}
