import http from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import type { Express, Response } from 'express';
import { type ApiRequest, RequestState } from '../request/api-request.js';
import { GracefulShutdown } from './graceful-shutdown.js';
import { handleUpgradeAndExpect } from './upgrade-and-expect.js';
import { sendResponse, serializeResponse } from '../../rest/envelope.js';

/** Slow senders are cut off: headers within 5 s, the whole request within 10 s. */
const SERVER_OPTIONS: http.ServerOptions = {
  headersTimeout: 5_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 1_000,
  keepAliveTimeout: 65_000,
  // Checked by us instead, so that the refusal carries the envelope.
  requireHostHeader: false,
};

/** Longer than between two heartbeats of a stream, and than idle connections are kept. */
const SOCKET_TIMEOUT_MS = 120_000;

/** Express as Latitude runs it: exact paths, no extras, and the error envelope on every refusal. */
export class HttpAdapter extends ExpressAdapter {
  private shutdown: GracefulShutdown | undefined;
  /** Answers until the application does. */
  private earlyListener: http.RequestListener | undefined;

  constructor() {
    super();
    const express = this.getInstance<Express>();
    express.set('x-powered-by', false);
    express.set('etag', false);
    express.set('query parser', false);
    // The router is there already and reads Express' settings no more.
    Object.assign(express.router, { strict: true, caseSensitive: true });
  }

  /** Makes the server before the application exists; `listener` answers until `takeOver`. */
  createEarlyServer(listener: http.RequestListener): http.Server {
    this.earlyListener = listener;
    return this.createServer(listener);
  }

  override initHttpServer(): void {
    if (!this.earlyListener) this.createServer(this.getInstance<Express>());
  }

  /** Lets the application answer, also on connections that are open already. */
  serveApplication(): void {
    if (!this.earlyListener) return;
    const server = this.httpServer as http.Server;
    server.off('request', this.earlyListener).on('request', this.getInstance<Express>());
    this.earlyListener = undefined;
  }

  private createServer(listener: http.RequestListener): http.Server {
    const classes = nativeClasses(this.getInstance<Express>());
    const server = http.createServer({ ...SERVER_OPTIONS, ...classes }, listener);
    // The size of the block of headers bounds their number; Node would drop some in silence.
    server.maxHeadersCount = 0;
    // Who stops reading its answer, or sends no more, is let go.
    server.timeout = SOCKET_TIMEOUT_MS;
    handleUpgradeAndExpect(server);
    this.shutdown = new GracefulShutdown(server);
    this.httpServer = server;
    return server;
  }

  /** Answers what a handler returned. */
  override reply(response: Response, body: unknown, statusCode?: number): unknown {
    // What a handler streams it has begun to answer by itself.
    if (response.headersSent) return undefined;
    const request = response.req as ApiRequest;
    if (!request.state.hasEnvelope) return super.reply(response, body, statusCode);
    if (statusCode !== undefined) response.statusCode = statusCode;
    sendResponse(request, response, serializeResponse(request, response, body));
    return undefined;
  }

  /** Whether this instance finishes what it has and then goes. */
  get isDraining(): boolean {
    return this.shutdown?.hasBegun ?? false;
  }

  /** The first thing that happens when the application closes. */
  override beforeClose(): void {
    this.shutdown?.begin();
  }

  override async close(): Promise<void> {
    await this.shutdown?.finish();
  }
}

/**
 * Classes of Node's requests and responses that have Express' methods from the start. Express would
 * change the prototype of each object as it comes, which takes it off V8's fast paths.
 */
function nativeClasses(express: Express) {
  class ExpressRequest extends http.IncomingMessage {
    readonly state = new RequestState();
  }
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
