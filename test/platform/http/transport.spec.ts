import http from 'node:http';
import net from 'node:net';
import { gzipSync } from 'node:zlib';
import type { Answer } from '../../../src/testing/api-client.js';
import { expectEnvelope } from '../../../src/testing/envelope.js';
import { LEADS } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import {
  parseAnswer,
  type RawRequest,
  rawRequest,
  sendUntilClosed,
} from '../../../src/testing/raw-http.js';
import { ImpatientTimeBudget, reachLimit } from '../../support/overload.js';

const JSON_HEADER = ['Content-Type', 'application/json'];
const CHUNKED = ['Transfer-Encoding', 'chunked'];

let app: TestApp;
let tenant: Tenant;
let bodyLimit: number;

beforeAll(async () => {
  app = await TestApp.start({ timeBudget: new ImpatientTimeBudget() });
  tenant = await app.organization();
  bodyLimit = app.settings.bodyLimitBytes;
});
afterAll(() => app.stop());

describe('a keep-alive connection', () => {
  it('stays open after rejected bodies, invalid keys and unknown routes', async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const huge = Buffer.alloc(bodyLimit * 4, ' ');
    const text = ['Content-Type', 'text/plain'];
    const key = withKey();
    const json = [...key, ...JSON_HEADER];
    const calls: [number, Partial<RawRequest>][] = [
      [413, { headers: json, body: huge }],
      [413, { headers: [...json, ...CHUNKED], body: huge }],
      [413, { headers: [...json, 'Content-Encoding', 'gzip'], body: gzipSync(huge) }],
      [415, { headers: [...key, ...text], body: huge.subarray(0, bodyLimit) }],
      [400, { headers: json, body: '{' }],
      [401, { headers: ['Host', 'a', ...JSON_HEADER], body: huge }],
      [404, { headers: json, path: '/api/v1/nothing', body: huge }],
      [201, { headers: json, body: '{"first_name":"A"}' }],
    ];
    const sockets = new Set<net.Socket>();
    for (const [status, call] of calls) {
      const answer = await rawRequest(app.port, {
        method: 'POST',
        path: LEADS,
        headers: [],
        agent,
        onSocket: (socket) => sockets.add(socket),
        ...call,
      });
      expect(answer).toMatchObject({ status });
    }
    expect(sockets.size).toBe(1);
    agent.destroy();
  });
});

describe('a request that is not valid HTTP', () => {
  const get = 'GET /api/v1/me HTTP/1.1\r\n';
  const start = `POST ${LEADS} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`;
  const close = 'Connection: close\r\n\r\n';

  it.each([
    ['two lengths', 400, `${start}Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} `],
    [
      'a length and chunks',
      400,
      `${start}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
    ],
    ['a length that is none', 400, `${start}Content-Length: two\r\n\r\n{}`],
    ['a negative length', 400, `${start}Content-Length: -2\r\n\r\n{}`],
    ['an unknown transfer coding', 400, `${start}Transfer-Encoding: gzip\r\n\r\n`],
    ['a bad chunk', 400, `${start}Transfer-Encoding: chunked\r\n\r\nzz\r\n{}`],
    ['a header without a colon', 400, `${get}Host: a\r\nnonsense\r\n\r\n`],
    ['a space before the colon', 400, `${get}Host : a\r\n\r\n`],
    ['a folded header', 400, `${get}Host: a\r\nX: a\r\n b\r\n\r\n`],
    ['a NUL in a header', 400, `${get}Host: a\r\nAuthorization: Bearer lat_\0\r\n\r\n`],
    ['bytes beyond ASCII in the path', 400, 'GET /é HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['an unknown method', 400, 'BREW /api/v1/me HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a method in lower case', 400, 'get /api/v1/me HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['another version', 400, 'GET /api/v1/me HTTP/1.2\r\nHost: a\r\n\r\n'],
    ['HTTP/2', 400, 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['TLS', 400, '\x16\x03\x01\x02\x00\x01\x00\x01'],
    ['CONNECT', 400, 'CONNECT example.com:443 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['no Host', 400, `${get}${close}`],
    ['two Hosts', 400, `${get}Host: a\r\nHost: b\r\n${close}`],
    ['the same Host twice', 400, `${get}Host: a\r\nhost: a\r\n${close}`],
    ['an unknown expectation', 417, `${start}Expect: tea\r\nContent-Length: 2\r\n${close}{}`],
    ['a header of 17,000 bytes', 431, `${get}Host: a\r\nX: ${'a'.repeat(17_000)}\r\n\r\n`],
    ['a path of 17,000 bytes', 431, `GET /${'a'.repeat(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ])('%s is %i bad_request with the error envelope', async (_, status, bytes) => {
    const authorization = `Authorization: Bearer ${tenant.key.key}\r\n`;
    const sent = bytes.replace('Host: a\r\n', `Host: a\r\n${authorization}`);
    const answer = await sendUntilClosed(app.port, sent);
    expectEnvelope(answer, { status, code: 'bad_request' });
    expectLimits(answer);
  });

  it('needs no Host in HTTP/1.0', async () => {
    const answer = await sendUntilClosed(app.port, 'GET /nothing HTTP/1.0\r\n\r\n');
    expectEnvelope(answer, { status: 404, code: 'not_found' });
  });
});

describe('requests on one connection (RFC 9112, 9.3)', () => {
  const body = '{"first_name":"Ada"}';
  const create = (...more: string[]) =>
    [
      `POST ${LEADS} HTTP/1.1`,
      'Host: a',
      `Authorization: Bearer ${tenant.key.key}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      ...more,
      '',
      body,
    ].join('\r\n');

  /** Sends packets one after the other and returns all received data. */
  function allOf(...packets: string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(app.port, '127.0.0.1');
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        const packet = packets.shift();
        if (packet !== undefined) socket.write(packet);
      });
      socket.once('error', reject);
      socket.once('close', () => {
        resolve(text);
      });
      socket.write(packets.shift()!);
    });
  }

  const statusesIn = (text: string) =>
    Array.from(text.matchAll(/HTTP\/1\.1 (\d+) /g), ([, status]) => Number(status));

  it.each([
    ['garbage', 'garbage\r\n\r\n'],
    ['an unknown method', 'BREW / HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ])('are answered before the error response to %s after them', async (_, unreadable) => {
    const text = await allOf(create() + create() + unreadable);
    expect(statusesIn(text)).toEqual([201, 201, 400]);
  });

  it('are answered if more data follows a request with Connection: close', async () => {
    expect(statusesIn(await allOf(create('Connection: close') + create()))).toEqual([201]);
  });

  describe('with Upgrade', () => {
    /** Sends a request followed by a body that looks like a request. Returns all received data. */
    async function upgrade(whenClosed?: () => void): Promise<string> {
      const { api, key } = await app.organization();
      const outer = `GET /api/v1/me HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key.key}\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n`;
      const inner = create().replace(tenant.key.key, key.key);
      const head = `POST /nothing HTTP/1.1\r\nHost: a\r\nContent-Length: ${inner.length}\r\n\r\n`;
      const text = await allOf(outer + head, inner).finally(whenClosed);
      expect(text).toMatch(/^connection: close/im);
      expect(await api.get(LEADS)).toMatchObject({ body: { meta: { total: 0 } } });
      return text;
    }

    it('are served, and the data after them is ignored', async () => {
      expect(statusesIn(await upgrade())).toEqual([200]);
      expect(statusesIn(await allOf(create('Connection: Upgrade', 'Upgrade: h2c')))).toEqual([201]);
    });

    it('are 503 under overload, and the data after them is ignored', async () => {
      const text = await upgrade(reachLimit(app));
      expect(statusesIn(text)).toEqual([503]);
    });
  });
});

describe('a body announced with Expect: 100-continue (RFC 9110, 10.1.1)', () => {
  const LEAD = '{"first_name":"A"}';

  /** Sends the head of a request, and its body after 100 Continue. Returns all received data. */
  function exchange(head: readonly string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = net.connect(app.port, '127.0.0.1');
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        if (text === CONTINUE) socket.write(LEAD);
        else if (text.endsWith('}')) socket.end();
      });
      socket.once('error', reject);
      socket.once('close', () => {
        resolve(text);
      });
      socket.write([...head, 'Expect: 100-continue', '', ''].join('\r\n'));
    });
  }

  const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
  const head = (key: string, ...more: string[]) => [
    `POST ${LEADS} HTTP/1.1`,
    'Host: a',
    `Authorization: Bearer ${key}`,
    ...more,
  ];
  const json = ['Content-Type: application/json', `Content-Length: ${LEAD.length}`];

  it('is requested if it is accepted, and the connection stays open', async () => {
    const text = await exchange(head(tenant.key.key, ...json));
    expect(text.startsWith(CONTINUE)).toBe(true);
    const answer = parseAnswer(text.slice(CONTINUE.length));
    expect(answer.status).toBe(201);
    expect(answer.headers.get('connection')).toBe('keep-alive');
  });

  it.each<[string, number, () => string[]]>([
    ['without a valid key', 401, () => head('lat_x', ...json)],
    ['of another type', 415, () => head(tenant.key.key, 'Content-Length: 5')],
    [
      'over the limit',
      413,
      () => head(tenant.key.key, json[0]!, `Content-Length: ${bodyLimit + 1}`),
    ],
  ])('%s is %i without 100 Continue, and the connection is closed', async (_, status, request) => {
    const answer = parseAnswer(await exchange(request()));
    expect(answer.status).toBe(status);
    expect(answer.headers.get('connection')).toBe('close');
  });
});

describe('slow clients', () => {
  const MANY = 1_000;

  it('do not delay other requests and get a 408 with the error envelope', async () => {
    const patient = await TestApp.start({ database: app.database });
    const { api } = await patient.key(tenant.id);
    const server = patient.app.getHttpServer();
    const slow = Array.from({ length: MANY }, () =>
      sendUntilClosed(patient.port, 'GET /api/v1/me HTTP/1.1\r\nHost: a\r\nX-Slow: '),
    );
    for (let i = 0; i < 20; i++) expect(await api.get('/api/v1/me')).toMatchObject({ status: 200 });
    // Shorter than the configured 5 seconds, to make the test fast.
    server.headersTimeout = 100;
    for (const answer of await Promise.all(slow)) {
      expectEnvelope(answer, { status: 408, code: 'bad_request' });
    }
    await patient.stop();
  });

  it('have a socket timeout', () => {
    const { timeout, headersTimeout, requestTimeout } = app.app.getHttpServer();
    expect([timeout, headersTimeout, requestTimeout]).toEqual([120_000, 5_000, 310_000]);
  });
});

describe('the number of headers', () => {
  it('is limited only by their size; none is dropped silently', async () => {
    const many = Array.from({ length: 2_500 }, () => ['a', '']).flat();
    const path = '/api/v1/me';
    const headers = ['Host', 'a', ...many, 'Authorization', `Bearer ${tenant.key.key}`];
    expect(await rawRequest(app.port, { method: 'GET', path, headers })).toMatchObject({
      status: 200,
    });
  });
});

/** Expects valid rate limit headers (docs/contract/limits.md#rate-limit-headers). */
function expectLimits({ headers }: Answer): void {
  for (const name of ['limit', 'remaining', 'reset']) {
    expect(headers.get(`ratelimit-${name}`)).toMatch(/^\d+$/);
  }
}

function withKey(): string[] {
  return ['Host', 'a', 'Authorization', `Bearer ${tenant.key.key}`];
}
