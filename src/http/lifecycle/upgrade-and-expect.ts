import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { ApiRequest } from '../request/api-request.js';

const REQUEST_EVENTS = ['request', 'checkContinue', 'checkExpectation'] as const;

/**
 * Handles requests with `Upgrade` and `Expect`. The data that follows such a request on its connection
 * must not be parsed as another request.
 */
export function handleUpgradeAndExpect(server: Server): void {
  deferContinue(server);
  for (const event of REQUEST_EVENTS) server.prependListener(event, closeAfterUpgradeRequest);
}

/**
 * Serves a request with `Upgrade` as a normal request and closes its connection afterwards. Node drops
 * the rest of the data that it received with the request, so that the next data could start in the
 * middle of another request.
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

/**
 * Sends `100 Continue` only when the body is read. A response without it closes the connection, because
 * the client may send the body or not.
 */
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
  // HeadersGuard rejects unknown expectations.
  server.on('checkContinue', listener).on('checkExpectation', listener);
}
