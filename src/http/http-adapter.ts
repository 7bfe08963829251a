import http, { type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { randomUUID } from 'node:crypto';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express, Response } from 'express';
import { ApiError } from '../errors/api-error.js';
import type { ApiRequest } from '../tenancy/actor.js';
import { Drain } from './drain.js';
import { answerInEnvelope } from './envelope.js';
import { requestIdOf } from './request-id.js';

/** Slow senders are cut off: headers within 5 s, the whole request within 10 s. */
const SERVER_OPTIONS: http.ServerOptions = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 65_000,
  // Checked by us instead, so that the refusal carries the envelope.
  requireHostHeader: false,
};

const STATUS_BY_PARSER_CODE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  ERR_HTTP_REQUEST_TIMEOUT: 408,
};

/** Express as Latitude runs it: exact paths, no extras, and the error envelope on every refusal. */
export class HttpAdapter extends ExpressAdapter {
  private drain: Drain | undefined;

  constructor() {
    super();
    const express = this.getInstance<Express>();
    express.set('x-powered-by', false);
    express.set('etag', false);
    express.set('query parser', false);
    // The router is there already and reads Express' settings no more.
    Object.assign(express.router, { strict: true, caseSensitive: true });
  }

  override initHttpServer(): void {
    const express = this.getInstance<Express>();
    const server = http.createServer({ ...SERVER_OPTIONS, ...nativeClasses(express) }, express);
    answerWhatTheParserRefuses(server);
    this.drain = new Drain(server);
    this.httpServer = server;
  }

  /** Answers what a handler returned. */
  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    const request = response.req as ApiRequest;
    if (!request.isRest) return super.reply(response, body, statusCode);
    if (statusCode !== undefined) response.statusCode = statusCode;
    answerInEnvelope(request, response, body);
    return undefined;
  }

  /** Whether this instance finishes what it has and then goes. */
  get isDraining(): boolean {
    return this.drain?.hasBegun ?? false;
  }

  /** The first thing that happens when the application closes. */
  override beforeClose(): void {
    this.drain?.begin();
  }

  override async close(): Promise<void> {
    await this.drain?.finish();
  }
}

/**
 * Classes of Node's requests and responses that have Express' methods from the start. Express would
 * change the prototype of each object as it comes, which takes it off V8's fast paths.
 */
function nativeClasses(express: Express) {
  class ExpressRequest extends http.IncomingMessage {}
  class ExpressResponse extends http.ServerResponse<ExpressRequest> {}
  Object.setPrototypeOf(ExpressRequest.prototype, express.request);
  Object.setPrototypeOf(ExpressResponse.prototype, express.response);
  // A plain property instead of Express' getter, for the DTO that the query becomes.
  Object.defineProperty(ExpressRequest.prototype, 'query', { value: undefined, writable: true });
  Object.assign(express, {
    request: ExpressRequest.prototype,
    response: ExpressResponse.prototype,
  });
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}

/** Node's own refusals keep their status and get the envelope (decisions 2). */
function answerWhatTheParserRefuses(server: Server): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    if (error.code === 'ECONNRESET' || !socket.writable || isBeingAnswered(socket))
      socket.destroy();
    else socket.end(rawRefusal(STATUS_BY_PARSER_CODE[error.code ?? ''] ?? 400));
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    socket.end(rawRefusal(400));
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    const { body, requestId } = refusal(requestIdOf(request));
    response.writeHead(417, {
      'Content-Type': 'application/json; charset=utf-8',
      'X-Request-Id': requestId,
      Connection: 'close',
    });
    response.end(body);
  });
}

/** Whether an answer to an earlier request on the same connection has begun. */
function isBeingAnswered(socket: Duplex & { _httpMessage?: ServerResponse | null }): boolean {
  return socket._httpMessage?.headersSent ?? false;
}

function refusal(requestId: string = randomUUID()) {
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
