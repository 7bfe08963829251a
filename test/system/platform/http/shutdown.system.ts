import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { LEADS } from '../../../../src/testing/factories.js';
import type { HttpAdapter } from '../../../../src/platform/http/lifecycle/http-adapter.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { until } from '../../../support/servers/product.js';

const LIVE = '/health/live';
const READY = '/health/ready';

describe('graceful shutdown', () => {
  it('answers /health/ready with 503 on old and new connections, and completes pending requests', async () => {
    const app = await TestApp.start();
    const tenant = await app.organization();
    const keepAlive = new http.Agent({ keepAlive: true, maxSockets: 1 });
    await send(app, READY, keepAlive);

    const pending = new http.Agent({ keepAlive: true });
    const create = startCreate(app, tenant.key.key, pending);
    await once(create, 'continue');
    const stopped = app.app.close();
    const onOldConnection = await send(app, READY, keepAlive);
    expect(onOldConnection).toMatchObject({
      status: 503,
      headers: { connection: 'close' },
      body: { status: 'unavailable', reason: 'draining' },
    });
    expect(await send(app, READY)).toMatchObject({ status: 503 });
    expect(await send(app, LIVE)).toMatchObject({ status: 200 });

    // A connection without a request, such as browsers open in advance, does not delay the shutdown.
    net.connect(app.port, '127.0.0.1').on('error', () => undefined);

    create.end('{"first_name":"Ada"}');
    const [created] = (await once(create, 'response')) as [IncomingMessage];
    expect(created.statusCode).toBe(201);
    expect(created.headers.connection).toBe('close');
    created.resume();
    await stopped;
    keepAlive.destroy();
    pending.destroy();
    await app.stop();
  });
});

describe('the delay of a shutdown', () => {
  it('keeps connections open, and closes each after a response in its last second', async () => {
    const app = await TestApp.start();
    const adapter = app.app.getHttpAdapter() as HttpAdapter;
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    await send(app, LIVE, agent);
    const drained = adapter.shutdown.drain(2_000);
    const ready = await send(app, READY, agent);
    expect(ready).toMatchObject({ status: 503, headers: { connection: 'keep-alive' } });
    await until(async () => (await send(app, LIVE, agent)).headers.connection === 'close');
    await drained;
    expect(await send(app, LIVE, agent)).toMatchObject({ status: 200 });
    agent.destroy();
    await app.stop();
  });
});

describe('graceful shutdown with a client that left before pipelined responses', () => {
  it('ends', async () => {
    const app = await TestApp.start();
    const left = net.connect(app.port, '127.0.0.1').on('error', () => undefined);
    left.write(`GET ${READY} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(5));
    const server = app.app.getHttpServer();
    await once(server, 'request');
    left.destroy();
    const cutOff = jest.spyOn(server, 'closeAllConnections');
    await app.stop();
    expect(cutOff).not.toHaveBeenCalled();
  });
});

/** Starts a create request. The service has its headers and waits for its body. */
function startCreate(app: TestApp, key: string, agent: http.Agent): http.ClientRequest {
  return http.request(app.url + LEADS, {
    method: 'POST',
    agent,
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      'Content-Length': '{"first_name":"Ada"}'.length,
      Expect: '100-continue',
    },
  });
}

async function send(app: TestApp, path: string, agent: http.Agent | false = false) {
  const request = http.get(app.url + path, { agent });
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const body: unknown = JSON.parse(await text(response));
  return { status: response.statusCode, headers: response.headers, body };
}
