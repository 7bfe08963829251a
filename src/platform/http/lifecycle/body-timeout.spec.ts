import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import type { ApiRequest } from '../request/api-request.js';
import { limitBodyTime } from './body-timeout.js';

const START = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{';

let server: http.Server;
/** The codes of the errors of clients. */
let codes: unknown[];
let ended: (() => void) | undefined;

beforeEach(() => {
  codes = [];
  server = http.createServer();
  server.on('request', (request) => Object.assign(request, { state: {} }));
  limitBodyTime(server, 20);
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    codes.push(error.code);
    socket.destroy();
  });
});
afterEach(() => new Promise((resolve) => server.close(resolve)));

/** Sends bytes and resolves when the server has closed the connection. */
async function exchange(bytes: string): Promise<void> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => {
    const socket = net.connect(port, '127.0.0.1', () => socket.write(bytes));
    ended = () => socket.write('}');
    socket.resume().once('close', () => {
      resolve();
    });
  });
}

it('reports a body that is not complete in time', async () => {
  server.on('request', (request) => request.resume());
  await exchange(START);
  expect(codes).toEqual(['ERR_HTTP_REQUEST_TIMEOUT']);
});

it('reports no body that is complete', async () => {
  server.on('request', (request, response) => {
    request.resume().once('end', () => {
      setTimeout(() => response.setHeader('Connection', 'close').end(), 40);
    });
  });
  await exchange(`${START}}`);
  expect(codes).toEqual([]);
});

it('gives a handler more time that asks for it', async () => {
  server.on('request', (request: ApiRequest, response) => {
    request.state.extendTimeout?.(10_000);
    request.resume().once('end', () => response.setHeader('Connection', 'close').end());
    setTimeout(() => ended?.(), 60);
  });
  await exchange(START);
  expect(codes).toEqual([]);
});
