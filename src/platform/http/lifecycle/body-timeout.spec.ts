import { once } from 'node:events';
import http, { type ServerResponse } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import type { ApiRequest } from '../request/api-request.js';
import { limitBodyTime } from './http-adapter.js';

const LIMIT_MS = 10_000;

const START = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{';

let server: http.Server;
let client: net.Socket;
/** The codes of the errors of clients. */
let codes: unknown[];

beforeEach(async () => {
  codes = [];
  server = http.createServer();
  server.on('request', (request) => Object.assign(request, { state: {} }));
  limitBodyTime(server);
  server.on('clientError', (error: NodeJS.ErrnoException) => codes.push(error.code));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  jest.useFakeTimers();
});
afterEach(async () => {
  jest.useRealTimers();
  client.destroy();
  server.closeAllConnections();
  await once(server.close(), 'close');
});

/** Sends bytes and returns the request once the server has received its headers. */
async function received(bytes: string): Promise<ApiRequest> {
  client = net.connect((server.address() as AddressInfo).port, '127.0.0.1');
  client.write(bytes);
  const [request] = (await once(server, 'request')) as [ApiRequest, ServerResponse];
  return request;
}

it('reports a body that is not complete in time', async () => {
  await received(START);
  jest.advanceTimersByTime(LIMIT_MS - 1);
  expect(codes).toEqual([]);
  jest.advanceTimersByTime(1);
  expect(codes).toEqual(['ERR_HTTP_REQUEST_TIMEOUT']);
});

it('reports no body that is complete', async () => {
  const request = await received(`${START}}`);
  await once(request.resume(), 'end');
  jest.advanceTimersByTime(LIMIT_MS);
  expect(codes).toEqual([]);
});

it('gives a handler more time that asks for it', async () => {
  const request = await received(START);
  request.state.extendTimeout?.(6 * LIMIT_MS);
  jest.advanceTimersByTime(6 * LIMIT_MS - 1);
  expect(codes).toEqual([]);
  jest.advanceTimersByTime(1);
  expect(codes).toEqual(['ERR_HTTP_REQUEST_TIMEOUT']);
});
