import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { randomUUID } from 'node:crypto';
import { ExpressAdapter } from '@nestjs/platform-express';
import { ApiError } from '../errors/api-error.js';

/** Slow senders are cut off: headers within 5 s, the whole request within 10 s. */
const SERVER_OPTIONS: http.ServerOptions = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 65_000,
  // Checked by us instead, so that the refusal carries the envelope.
  requireHostHeader: false,
};

/** Longer than any request may take. */
const DRAIN_DEADLINE_MS = 15_000;

const STATUS_BY_PARSER_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Express as Latitude runs it: exact paths, no extras, and the error envelope on every refusal. */
export class HttpAdapter extends ExpressAdapter {
  constructor() {
    super();
    const express = this.getInstance<{ set(name: string, value: unknown): void }>();
    express.set('x-powered-by', false);
    express.set('etag', false);
    express.set('query parser', false);
    express.set('strict routing', true);
    express.set('case sensitive routing', true);
  }

  override initHttpServer(): void {
    const server = http.createServer(SERVER_OPTIONS, this.getInstance<http.RequestListener>());
    answerWhatTheParserRefuses(server);
    endConnectionsWhileDraining(server);
    this.httpServer = server;
  }

  /** Stops listening and waits for what is under way, at most until the deadline. */
  override close(): Promise<void> {
    const server = this.httpServer as Server;
    const sweep = setInterval(() => {
      server.closeIdleConnections();
    }, 20);
    const deadline = setTimeout(() => {
      server.closeAllConnections();
    }, DRAIN_DEADLINE_MS);
    return new Promise((resolve) => {
      server.close(() => {
        clearInterval(sweep);
        clearTimeout(deadline);
        resolve();
      });
    });
  }
}

/** Keep-alive clients learn from their last answer that the server is going. */
function endConnectionsWhileDraining(server: Server): void {
  server.prependListener('request', (_request, response: ServerResponse) => {
    if (!server.listening) response.setHeader('Connection', 'close');
  });
}

/** Node's own refusals keep their status and get the envelope (decisions 2). */
function answerWhatTheParserRefuses(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable) socket.destroy();
    else socket.end(rawRefusal(STATUS_BY_PARSER_CODE[error.code ?? ''] ?? 400));
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.end(rawRefusal(400));
  });
  server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    const { body, requestId } = refusal();
    response.writeHead(417, {
      'Content-Type': 'application/json; charset=utf-8',
      'X-Request-Id': requestId,
      Connection: 'close',
    });
    response.end(body);
  });
}

function refusal() {
  const requestId = randomUUID();
  return { requestId, body: JSON.stringify(new ApiError('bad_request').toEnvelope(requestId)) };
}

function rawRefusal(status: number): string {
  const { body, requestId } = refusal();
  return [
    `HTTP/1.1 ${status} ${http.STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
