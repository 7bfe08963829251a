import { randomUUID } from 'node:crypto';
import http from 'node:http';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { GracefulShutdown } from './graceful-shutdown.js';

it('a shutdown answers the connections that the operating system has queued', async () => {
  let accepted = 0;
  const server = http.createServer((_, response) => response.end('answered'));
  server.on('connection', () => accepted++);
  const shutdown = new GracefulShutdown(server);
  // The operating system queues a connection to a Unix domain socket before `connect` returns.
  const path = join(tmpdir(), `${randomUUID()}.sock`);
  server.listen(path);
  await new Promise((resolve) => server.once('listening', resolve));
  const sockets = Array.from({ length: 20 }, () => net.connect(path));
  for (const socket of sockets) socket.end('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  expect(accepted).toBe(0);

  const finished = shutdown.finish();
  const answers = await Promise.all(sockets.map((socket) => text(socket)));
  await finished;
  for (const answer of answers) expect(answer).toMatch(/^HTTP\/1\.1 200 .+answered$/s);
});
