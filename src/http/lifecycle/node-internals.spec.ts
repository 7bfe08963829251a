import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { pendingResponseOf, setBacklog } from './node-internals.js';

describe('the internals of Node.js that the HTTP code relies on', () => {
  it('the handle of a listening server changes its backlog', async () => {
    const server = http.createServer();
    expect(setBacklog(server, 0)).toBe(false);
    server.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    expect(setBacklog(server, 0)).toBe(true);
    server.close();
  });

  it('a connection refers to its pending response', async () => {
    const server = http.createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const answered = once(http.get({ port, host: '127.0.0.1' }), 'response');
    const [request, response] = (await once(server, 'request')) as [
      http.IncomingMessage,
      http.ServerResponse,
    ];
    const { socket } = request;
    expect(pendingResponseOf(socket)).toBe(response);
    response.end();
    const [answer] = (await answered) as [http.IncomingMessage];
    await once(answer.resume(), 'end');
    expect(pendingResponseOf(socket)).toBeUndefined();
    server.close();
  });
});
