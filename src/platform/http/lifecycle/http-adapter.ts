import http from 'node:http';
import type { Socket } from 'node:net';
import { StreamableFile } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express, Response } from 'express';
import { sendError } from '../error.filter.js';
import type { ApiRequest } from '../request/api-request.js';
import { requestIdOf } from '../request/request-id.js';
import { limitBodyTime } from './body-timeout.js';
import { createExpress, serverClassesOf } from './express-app.js';
import { CATCH_ALL_PATH } from '../routes/access.js';
import { GracefulShutdown } from './graceful-shutdown.js';
import { handleUpgradeAndExpect } from './upgrade-and-expect.js';
import { isSentWithoutEnvelope, sendResponse, serializeResponse } from '../response/envelope.js';

/** Clients must send the headers within 5 s. The body has a limit of its own, which is shorter on most routes. */
const SERVER_OPTIONS: http.ServerOptions = {
  headersTimeout: 5_000,
  requestTimeout: 310_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 65_000,
  // HeadersGuard checks the header instead, so that the response has the error envelope.
  requireHostHeader: false,
};

/** Longer than the heartbeat interval of event streams and the keep-alive timeout. */
const SOCKET_TIMEOUT_MS = 120_000;

const UNKNOWN_ROUTES = `/${CATCH_ALL_PATH}`;

const NO_BODY_PARSER =
  'A body parser is registered with Nest, but Latitude reads the body of each request itself. Remove it: take the parsed JSON with @Body().';

type RouteHandler = Parameters<ExpressAdapter['all']>[1];

/** Configures Express and its server: exact paths, timeouts, graceful shutdown, JSON envelopes. */
export class HttpAdapter extends ExpressAdapter {
  private shutdown: GracefulShutdown | undefined;
  /** Handles requests until `serveApplication` is called. */
  private earlyListener: http.RequestListener | undefined;
  /** The handler of `UnknownRoutesController`. */
  private answerUnknownRoute: RouteHandler | undefined;

  constructor() {
    super(createExpress());
  }

  /** Creates the server before the application. `listener` handles requests until `serveApplication`. */
  createEarlyServer(listener: http.RequestListener): http.Server {
    this.earlyListener = listener;
    return this.createServer(listener);
  }

  override initHttpServer(): void {
    if (!this.earlyListener) this.createServer(this.getInstance<Express>());
  }

  /** Routes all later requests to the application, including those on open connections. */
  serveApplication(): void {
    if (!this.earlyListener) return;
    const server = this.httpServer as http.Server;
    server.off('request', this.earlyListener).on('request', this.getInstance<Express>());
    this.earlyListener = undefined;
  }

  /** Nest calls this with the option `bodyParser`. */
  override registerParserMiddleware(): never {
    throw new Error(NO_BODY_PARSER);
  }

  override useBodyParser(): never {
    throw new Error(NO_BODY_PARSER);
  }

  private createServer(listener: http.RequestListener): http.Server {
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
    server.on('request', listener);
    this.httpServer = server;
    return server;
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
      if (body instanceof StreamableFile) answerFailureWithEnvelope(body, request, response);
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

  /** Returns the response that a connection is sending, or is about to send. */
  pendingResponseOf(socket: Socket): http.ServerResponse | undefined {
    return this.shutdown?.pendingResponseOf(socket);
  }

  /** Whether the server is shutting down. */
  get isDraining(): boolean {
    return this.shutdown?.hasBegun ?? false;
  }

  /** Serves for some time, while load balancers notice that the instance is not ready. */
  async drain(ms: number): Promise<void> {
    await this.shutdown?.drain(ms);
  }

  /** Nest calls this first when the application closes. */
  override beforeClose(): void {
    this.shutdown?.begin();
  }

  override async close(): Promise<void> {
    await this.shutdown?.finish();
  }
}

/** Sets the id of a request first, so that every response has it. */
function identify(request: http.IncomingMessage, response: http.ServerResponse): void {
  const { state } = request as ApiRequest;
  state.requestId = requestIdOf(request);
  response.setHeader('X-Request-Id', state.requestId);
}

/** Answers `internal_error` if a file cannot be read, or closes the connection if a part of it was sent. */
function answerFailureWithEnvelope(
  file: StreamableFile,
  request: ApiRequest,
  response: Response,
): void {
  file.setErrorHandler((error) => {
    sendError(error, request, response);
  });
}
