import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { ApiRequest } from '../request/api-request.js';

const REQUEST_EVENTS = ['request', 'checkContinue', 'checkExpectation'] as const;

/** Keeps what may follow certain requests on their connections from being read as requests. */
export function handleUpgradeAndExpect(server: Server): void {
  deferContinue(server);
  for (const event of REQUEST_EVENTS) server.prependListener(event, closeAfterUpgradeRequest);
}

/**
 * A request that asks for another protocol is served as it is, and nothing behind it: Node drops the
 * rest of what came with it, so that what comes next could begin within a request.
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

/** Answers of requests whose body is still held back are refusals: the body may follow, or not. */
function deferContinue(server: Server): void {
  const hold = (request: ApiRequest, response: ServerResponse) => {
    const { shouldKeepAlive } = response;
    response.shouldKeepAlive = false;
    request.state.sendContinue = () => {
      response.shouldKeepAlive = shouldKeepAlive;
      response.writeContinue();
    };
    server.emit('request', request, response);
  };
  // Expectations that Node does not know are refused where every other request is.
  server.on('checkContinue', hold).on('checkExpectation', hold);
}
