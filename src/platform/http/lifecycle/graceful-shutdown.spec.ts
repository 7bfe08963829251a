import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { GracefulShutdown } from './graceful-shutdown.js';

it('a shutdown answers the connections that the operating system has queued', async () => {
  let accepted = 0;
  const server = http.createServer((_, response) => response.end('answered'));
  server.on('connection', () => accepted++);
  const shutdown = new GracefulShutdown(server);
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  const sockets = [1, 2, 3].map(() => net.connect(port, '127.0.0.1'));
  for (const socket of sockets) socket.end('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  // The sockets connect in the next tick. The server accepts connections only in the poll phase.
  await new Promise<void>((resolve) => {
    process.nextTick(resolve);
  });
  expect(accepted).toBe(0);

  const finished = shutdown.finish();
  const answers = await Promise.all(sockets.map((socket) => text(socket)));
  await finished;
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 200 .+answered$/s);
});
