import http from 'node:http';
import { setBacklog } from './node-internals.js';

describe('the internals of Node.js that the HTTP code relies on', () => {
  it('the handle of a listening server changes its backlog', async () => {
    const server = http.createServer();
    expect(setBacklog(server, 0)).toBe(false);
    server.listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    expect(setBacklog(server, 0)).toBe(true);
    server.close();
  });
});
