import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { ApiRequest } from '../request/api-request.js';

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
  // ApiKeyGuard rejects unknown expectations.
  server.on('checkContinue', listener).on('checkExpectation', listener);
}
