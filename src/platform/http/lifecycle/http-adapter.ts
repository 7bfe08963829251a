import { randomUUID } from 'node:crypto';
import http, { type Server, type IncomingMessage, type ServerResponse } from 'node:http';
import { StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express, Response } from 'express';
import { sendError } from '../error.filter.js';
import type { ApiRequest } from '../request/api-request.js';
import { createExpress, serverClassesOf } from './express-app.js';
import { CATCH_ALL_PATH } from '../routes/access.js';
import { GracefulShutdown } from './graceful-shutdown.js';
import { isSentWithoutEnvelope, sendResponse, serializeResponse } from '../response/envelope.js';

/** Clients must send the headers within 5 s. The body has a limit of its own, which is shorter on most routes. */
const SERVER_OPTIONS: http.ServerOptions = {
  headersTimeout: 5_000,
  requestTimeout: 310_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 65_000,
  // AccessGuard checks the header instead, so that the response has the error envelope.
  requireHostHeader: false,
};

/** Longer than the heartbeat interval of event streams and the keep-alive timeout. */
const SOCKET_TIMEOUT_MS = 120_000;

const UNKNOWN_ROUTES = `/${CATCH_ALL_PATH}`;

type RouteHandler = Parameters<ExpressAdapter['all']>[1];

/** Configures Express and its server: exact paths, timeouts, graceful shutdown, JSON envelopes. */
export class HttpAdapter extends ExpressAdapter {
  readonly shutdown: GracefulShutdown;
  private listener: http.RequestListener = this.getInstance<Express>();
  /** The handler of `UnknownRoutesController`. */
  private answerUnknownRoute: RouteHandler | undefined;

  constructor() {
    super(createExpress());
    const classes = serverClassesOf(this.getInstance<Express>());
    const server = http.createServer({ ...SERVER_OPTIONS, ...classes });
    // No limit: Node silently drops headers over it. The maximum header size limits their number.
    server.maxHeadersCount = 0;
    // Closes connections on which neither side sends data.
    server.timeout = SOCKET_TIMEOUT_MS;
    server.on('request', identify);
    limitBodyTime(server);
    handleUpgradeAndExpect(server);
    this.shutdown = new GracefulShutdown(server);
    server.on('request', (request, response) => {
      this.listener(request, response);
    });
    this.httpServer = server;
  }

  /** Nest calls this to create the server, which exists already. */
  override initHttpServer(): void {
    return undefined;
  }

  /** Lets a listener handle requests until `serveApplication` is called. */
  serveBefore(listener: http.RequestListener): void {
    this.listener = listener;
  }

  /** Routes all later requests to the application, including those on open connections. */
  serveApplication(): void {
    this.listener = this.getInstance<Express>();
  }

  /** Sends the result of a handler. Filters pass the status of their response, which has no envelope. */
  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    // A handler that streams has sent the response itself.
    if (response.headersSent) return undefined;
    const request = response.req as ApiRequest;
    if (!request.state.plan?.hasEnvelope || statusCode !== undefined) {
      return super.reply(response, body, statusCode);
    }
    if (isSentWithoutEnvelope(response, body)) {
      if (body instanceof StreamableFile) {
        // Answers `internal_error` if the file cannot be read, or closes the connection if a part of it was sent. A file
        // that ends because the response has ended, as after HEAD, has not failed.
        body.setErrorHandler((error) => {
          if (!response.destroyed) sendError(error, request, response);
        });
      }
      return super.reply(response, body);
    }
    sendResponse(request, response, serializeResponse(request, response, body));
    return undefined;
  }

  /** Nest calls this for each route of all methods. The first of all paths is kept for later: it answers unknown routes. */
  override all(path: unknown, handler?: unknown): unknown {
    if (path !== UNKNOWN_ROUTES || this.answerUnknownRoute) {
      return super.all(path, handler as RouteHandler) as unknown;
    }
    this.answerUnknownRoute = handler as RouteHandler;
    return undefined;
  }

  /**
   * Nest calls this after `onModuleInit`. What modules have registered there, such as static files, comes before the
   * answer to unknown routes.
   */
  override setNotFoundHandler(...args: Parameters<ExpressAdapter['setNotFoundHandler']>): unknown {
    if (this.answerUnknownRoute) super.all(UNKNOWN_ROUTES, this.answerUnknownRoute);
    return super.setNotFoundHandler(...args) as unknown;
  }

  /** Whether the server is shutting down. */
  get isDraining(): boolean {
    return this.shutdown.hasBegun;
  }

  /** Nest calls this first when the application closes. */
  override beforeClose(): void {
    this.shutdown.begin();
  }

  override async close(): Promise<void> {
    await this.shutdown.finish();
  }
}

const VALID_REQUEST_ID = /^[!-~]{1,128}$/;

/**
 * Sets the id of a request first, so that every response has it: a valid `X-Request-Id` of the request, or a new one
 * (docs/contract/errors.md#request-id).
 */
function identify(request: http.IncomingMessage, response: http.ServerResponse): void {
  const sent = request.headers['x-request-id'];
  const id = typeof sent === 'string' && VALID_REQUEST_ID.test(sent) ? sent : randomUUID();
  (request as ApiRequest).state.requestId = id;
  response.setHeader('X-Request-Id', id);
}

/** How long clients may take to send the body, unless the handler takes a file. */
const BODY_MS = 10_000;

/** Answers 408 to clients that send a body too slowly. Node's timeout would be the same for all routes. */
export function limitBodyTime(server: Server): void {
  server.on('request', (request: ApiRequest) => {
    const { 'content-length': length, 'transfer-encoding': coding } = request.headers;
    if (coding === undefined && Number(length ?? 0) === 0) return;
    const { socket } = request;
    const expire = () => {
      const error = Object.assign(new Error('body timeout'), { code: 'ERR_HTTP_REQUEST_TIMEOUT' });
      if (!request.complete) server.emit('clientError', error, socket);
    };
    let timer = setTimeout(expire, BODY_MS).unref();
    request.state.extendTimeout = (longer) => {
      clearTimeout(timer);
      timer = setTimeout(expire, longer).unref();
    };
    request.on('close', () => {
      clearTimeout(timer);
    });
  });
}

const REQUEST_EVENTS = ['request', 'checkContinue', 'checkExpectation'] as const;

/** Prevents that data after a request with `Upgrade` or `Expect` is parsed as another request. */
export function handleUpgradeAndExpect(server: Server): void {
  deferContinue(server);
  for (const event of REQUEST_EVENTS) server.prependListener(event, closeAfterUpgradeRequest);
}

/**
 * Closes the connection after the response to a request with `Upgrade`, and reads nothing more from it. Node drops the
 * data that it received together with the request. What follows would then be parsed from the middle of a request.
 */
function closeAfterUpgradeRequest(request: IncomingMessage, response: ServerResponse): void {
  const { upgrade, 'content-length': length, 'transfer-encoding': coding } = request.headers;
  if (upgrade === undefined) return;
  response.shouldKeepAlive = false;
  const stop = () => {
    request.socket.pause();
  };
  if (length === undefined && coding === undefined) stop();
  else request.once('end', stop);
}

/** Sends `100 Continue` when the body is read. A response without it closes the connection. */
function deferContinue(server: Server): void {
  const listener = (request: ApiRequest, response: ServerResponse) => {
    const { shouldKeepAlive } = response;
    response.shouldKeepAlive = false;
    request.state.sendContinue = () => {
      response.shouldKeepAlive = shouldKeepAlive;
      response.writeContinue();
    };
    server.emit('request', request, response);
  };
  // AccessGuard rejects unknown expectations.
  server.on('checkContinue', listener).on('checkExpectation', listener);
}
