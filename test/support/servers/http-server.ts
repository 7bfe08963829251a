import { createServer, type RequestListener, type Server } from 'node:http';

/**
 * Creates an HTTP server that closes no idle connection until it is stopped. By default, Node closes one after five
 * seconds, and a request that a client sends on it at this moment fails with ECONNRESET.
 */
export function createHttpServer(listener?: RequestListener): Server {
  return createServer({ keepAliveTimeout: 0 }, listener);
}
