import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { LEADS } from './support/factories.js';
import { createDatabase, dropDatabase, TestApp } from './support/harness.js';
import { until } from './support/product.js';
import { TcpProxy } from './support/tcp-proxy.js';

const LIVE = '/health/live';
const READY = '/health/ready';

describe('health (decisions 7: pages)', () => {
  let app: TestApp;
  beforeAll(async () => {
    app = await TestApp.start({ settings: { readsPerMinute: 2 } });
  });
  afterAll(() => app.stop());

  it.each([LIVE, READY])('answers %s to everyone, without a key or a limit', async (path) => {
    const strangers = app.client();
    for (const answer of await Promise.all([1, 2, 3].map(() => strangers.get(path)))) {
      expect(answer).toMatchObject({ status: 200, body: { status: 'ok' } });
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.headers.get('x-request-id')).not.toBeNull();
      expect([...answer.headers.keys()].filter((name) => name.startsWith('ratelimit'))).toEqual([]);
    }
  });

  it.each([LIVE, READY])('answers %s whatever the query or the key', async (path) => {
    const answer = await app.client('lat_wrong').get(`${path}?probe=1&probe=2`);
    expect(answer.status).toBe(200);
  });

  it.each([LIVE, READY])('answers HEAD %s, and no other method', async (path) => {
    expect((await app.client().request('HEAD', path)).status).toBe(200);
    const posted = await app.client().post(path, {});
    expect(posted.status).toBe(404);
    expect(posted.headers.get('allow')).toBe('GET, HEAD');
  });
});

describe('an instance whose database does not answer', () => {
  let proxy: TcpProxy;
  let app: TestApp;
  beforeAll(async () => {
    proxy = await TcpProxy.to(await createDatabase());
    app = await TestApp.start({ database: proxy.target });
  });
  afterAll(async () => {
    await app.stop();
    await proxy.close();
  });

  const becomesReady = () =>
    until(async () => (await app.client().get(READY)).status === 200, { deadlineMs: 5_000 });

  it('is live but not ready while the database is gone, and ready when it is back', async () => {
    proxy.setOpen(false);
    expect((await app.client().get(LIVE)).status).toBe(200);
    const answer = await app.client().get(READY);
    expect(answer.status).toBe(503);
    expect(answer.body).toEqual({ status: 'unavailable', reason: 'database' });
    proxy.setOpen(true);
    await becomesReady();
  });

  it('says so after a second of silence, however many ask, and leaves the silent connection', async () => {
    await becomesReady();
    proxy.silence();
    const started = performance.now();
    const answers = await Promise.all(Array.from({ length: 30 }, () => app.client().get(READY)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([503]));
    expect(performance.now() - started).toBeLessThan(5_000);
    await becomesReady();
  });
});

describe('an instance that is draining (decisions 2)', () => {
  it('is not ready on old and new connections, finishes what it has, then ends', async () => {
    const app = await TestApp.start();
    const tenant = await app.organization();
    const keepAlive = new http.Agent({ keepAlive: true, maxSockets: 1 });
    await send(app, READY, keepAlive);

    const create = startCreate(app, tenant.key.key);
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

    // Such as a browser makes in advance: it keeps no server from ending.
    net.connect(app.port, '127.0.0.1').on('error', () => undefined);

    create.end('{"first_name":"Ada"}');
    const [created] = (await once(create, 'response')) as [IncomingMessage];
    expect(created.statusCode).toBe(201);
    created.resume();
    await stopped;
    keepAlive.destroy();
    await dropDatabase(app.database);
  });
});

describe('an instance whose client left before pipelined answers', () => {
  it('ends all the same', async () => {
    const app = await TestApp.start();
    const left = net.connect(app.port, '127.0.0.1').on('error', () => undefined);
    left.write(`GET ${READY} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(5));
    const server = app.app.getHttpServer();
    await once(server, 'request');
    left.destroy();
    const started = performance.now();
    await app.stop();
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

/** A create that is under way: the service has its headers and waits for its body. */
function startCreate(app: TestApp, key: string): http.ClientRequest {
  return http.request(app.url + LEADS, {
    method: 'POST',
    agent: false,
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
