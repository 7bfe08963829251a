import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { randomUUID } from 'node:crypto';
import { type HttpServer, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiError } from '../errors/api-error.js';
import { RateLimits, tellLimit } from '../rate-limit/rate-limits.js';

const STATUS_BY_PARSER_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Gives the envelope to what Node refuses before there is a request (decisions 2). */
@Injectable()
export class ParserRefusals implements OnApplicationBootstrap {
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
      const isGone = error.code === 'ECONNRESET' || !socket.writable;
      if (isGone || isBeingAnswered(socket)) socket.destroy();
      else void this.refuse(socket, STATUS_BY_PARSER_CODE[error.code ?? '']);
    });
    server.on('connect', (_request: IncomingMessage, socket: Socket) => {
      void this.refuse(socket);
    });
  }

  private async refuse(socket: Socket, status = 400): Promise<void> {
    const requestId = randomUUID();
    const body = JSON.stringify(new ApiError('bad_request', { status }).toEnvelope(requestId));
    const headers = new Map<string, string | number>([
      ['Content-Type', 'application/json; charset=utf-8'],
      ['Content-Length', Buffer.byteLength(body)],
      ['X-Request-Id', requestId],
      ['Connection', 'close'],
    ]);
    const state = await this.limits.peek('reads', String(socket.remoteAddress));
    tellLimit({ setHeader: (name, value) => headers.set(name, value) }, state);
    const lines = Array.from(headers, ([name, value]) => `${name}: ${value}`);
    const start = `HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? ''}`;
    socket.end([start, ...lines, '', body].join('\r\n'));
  }
}

/** Whether an answer to an earlier request on the same connection has begun. */
function isBeingAnswered(socket: Socket & { _httpMessage?: ServerResponse | null }): boolean {
  return socket._httpMessage?.headersSent ?? false;
}
