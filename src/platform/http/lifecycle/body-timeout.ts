import type { Server } from 'node:http';
import type { ApiRequest } from '../request/api-request.js';

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
