import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { Response } from 'express';
import { EventStream } from './event-stream.js';

const MANY_HEARTBEATS_MS = 120_000;
const LARGE = `: ${'x'.repeat(64 * 1_024)}\n\n`;

let server: http.Server;
let response: http.ServerResponse;
let answer: http.IncomingMessage;
let stream: EventStream;
let errors: unknown[];

beforeEach(async () => {
  jest.useFakeTimers({
    doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate', 'setTimeout', 'performance'],
  });
  errors = [];
  server = http.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const arrival = once(server, 'request') as Promise<[unknown, http.ServerResponse]>;
  const answered = once(http.get({ port, host: '127.0.0.1' }), 'response');
  [, response] = await arrival;
  response.on('error', (error) => errors.push(error));
  stream = new EventStream(response as Response);
  [answer] = (await answered) as [http.IncomingMessage];
  answer.on('error', () => undefined);
});
afterEach(async () => {
  jest.useRealTimers();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

/** Writes until the buffers to the client, which reads nothing, are full. */
async function fill(): Promise<void> {
  let idle = 0;
  for (let before = -1; idle < 10; before = response.writableLength) {
    if (response.writableLength > 0 && response.writableLength === before) idle++;
    else if (response.writableLength === 0) stream.write(LARGE);
    await turn();
  }
}

describe('EventStream', () => {
  it('sends a comment at once', async () => {
    const [first] = (await once(answer, 'data')) as [Buffer];
    expect(String(first)).toBe(': open\n\n');
  });

  it('writes neither events nor heartbeats after it is closed', async () => {
    stream.write('data: 1\n\n');
    stream.close();
    expect(stream.write('data: 2\n\n')).toBe(false);
    jest.advanceTimersByTime(MANY_HEARTBEATS_MS);
    let text = '';
    for await (const chunk of answer) text += String(chunk);
    expect({ text, errors }).toEqual({ text: ': open\n\ndata: 1\n\n', errors: [] });
  });

  it('closes the connection of a client that does not read when the stream is closed', async () => {
    await fill();
    stream.close();
    expect(response.destroyed).toBe(true);
    jest.advanceTimersByTime(MANY_HEARTBEATS_MS);
    expect(errors).toEqual([]);
  });

  it('closes the connection of a client that does not read before much data is buffered', async () => {
    await fill();
    let written = 0;
    while (stream.write(LARGE)) written++;
    expect(written).toBeLessThan(10);
    expect(response.destroyed).toBe(true);
    expect(stream.write('data: 1\n\n')).toBe(false);
  });
});
