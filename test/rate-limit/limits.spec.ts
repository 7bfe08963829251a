import type { Express } from 'express';
import { generateKey } from '../../src/auth/api-key-format.js';
import { KeysService } from '../../src/auth/keys.service.js';
import { readSettings, type Settings } from '../../src/config/settings.js';
import { HttpAdapter } from '../../src/http/lifecycle/http-adapter.js';
import type { Answer } from '../../src/testing/api-client.js';
import { createLead, errorOf, expectError, LEADS } from '../../src/testing/factories.js';
import { TestApp, type Tenant } from '../../src/testing/test-app.js';

const ME = '/api/v1/me';
const WINDOW_SECONDS = 60;

let first: TestApp;
const started: TestApp[] = [];

/** One more instance with these limits, counting for itself. */
async function start(settings: Partial<Settings> = {}): Promise<TestApp> {
  const app = await TestApp.start({ settings, database: first.database });
  started.push(app);
  return app;
}

beforeAll(async () => {
  first = await TestApp.start();
});
afterAll(() => Promise.all([first, ...started].map((app) => app.stop())));

interface Limits {
  readonly limit: number;
  readonly remaining: number;
  readonly reset: number;
}

/** The limits that an answer tells; each header must be a plain number. */
function limitsOf({ headers }: Answer): Limits {
  const read = (name: string) => {
    const value = headers.get(name) ?? '';
    expect({ [name]: value }).toEqual({ [name]: expect.stringMatching(/^\d+$/) as string });
    return Number(value);
  };
  return {
    limit: read('RateLimit-Limit'),
    remaining: read('RateLimit-Remaining'),
    reset: read('RateLimit-Reset'),
  };
}

function expectRefusal(answer: Answer): void {
  expectError(answer, 429, 'rate_limit_exceeded');
  expect(answer.body).toMatchObject({ error: { retryable: true } });
  const retryAfter = answer.headers.get('retry-after') ?? '';
  expect(retryAfter).toMatch(/^\d+$/);
  expect(Number(retryAfter)).toBeGreaterThan(0);
  expect(Number(retryAfter)).toBeLessThanOrEqual(WINDOW_SECONDS);
  expect(limitsOf(answer).remaining).toBe(0);
}

/** How often a request succeeds before it is 429. */
async function countUntilRefused(call: () => Promise<Answer>): Promise<number> {
  for (let count = 0; count < 100; count++) {
    const answer = await call();
    if (answer.status !== 429) continue;
    expectRefusal(answer);
    return count;
  }
  throw new Error('nothing was refused');
}

describe('60 reads and 30 writes a minute', () => {
  it('are the defaults, exactly', async () => {
    const { readsPerMinute, writesPerMinute } = readSettings({});
    const app = await start({ readsPerMinute, writesPerMinute });
    const { api } = await app.organization();
    expect(limitsOf(await api.get(ME))).toMatchObject({ limit: 60, remaining: 59 });
    expect(limitsOf(await api.post(LEADS, {}))).toMatchObject({ limit: 30, remaining: 29 });
    expect(await countUntilRefused(() => api.get(ME))).toBe(59);
    expect(await countUntilRefused(() => api.post(LEADS, { first_name: 'A' }))).toBe(29);
  });
});

describe('the windows of a key', () => {
  let app: TestApp;
  let tenant: Tenant;

  beforeAll(async () => {
    app = await start({ readsPerMinute: 4, writesPerMinute: 3 });
  });
  beforeEach(async () => {
    tenant = await app.organization();
  });

  it('counts reads and writes apart', async () => {
    expect(await countUntilRefused(() => tenant.api.get(ME))).toBe(4);
    expect(await countUntilRefused(() => tenant.api.post(LEADS, {}))).toBe(3);
  });

  it('tells in the message what was counted', async () => {
    const refused = async (call: () => Promise<Answer>) => {
      await countUntilRefused(call);
      return errorOf(await call()).message;
    };
    expect(await refused(() => tenant.api.get(ME))).toMatch(/^The limit of 4 reads in 60 seconds/);
    const { message } = errorOf(await app.client().get(ME));
    expect(await refused(() => tenant.api.post(LEADS, {}))).toMatch(/^The limit of 3 writes in/);
    expect(message).toContain('Authorization: Bearer lat_');
  });

  it('counts GET and HEAD as reads', async () => {
    const remaining = [
      await tenant.api.get(ME),
      await tenant.api.request('HEAD', ME),
      await tenant.api.get('/api/v1/nothing'),
    ].map((answer) => limitsOf(answer));
    expect(remaining).toMatchObject([
      { limit: 4, remaining: 3 },
      { limit: 4, remaining: 2 },
      { limit: 4, remaining: 1 },
    ]);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE'])('counts %s as a write', async (method) => {
    const answer = await tenant.api.request(method, `${LEADS}/x`);
    expect(limitsOf(answer)).toMatchObject({ limit: 3, remaining: 2 });
    expect(limitsOf(await tenant.api.get(ME))).toMatchObject({ limit: 4, remaining: 3 });
  });

  it('counts by key, not by organization', async () => {
    await countUntilRefused(() => tenant.api.get(ME));
    const colleague = await app.key(tenant.id);
    expect(limitsOf(await colleague.api.get(ME))).toMatchObject({ remaining: 3 });
  });

  it('counts over all routes together', async () => {
    const { id } = await createLead(tenant.api);
    await tenant.api.put(`${LEADS}/${id}`, {});
    await tenant.api.delete(`${LEADS}/${id}`);
    expectRefusal(await tenant.api.post('/api/v1/tasks', { title: 'A' }));
  });

  it('counts requests that come all at once exactly', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => tenant.api.get(ME)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
    const remaining = answers.map((answer) => limitsOf(answer).remaining).sort();
    expect(remaining.slice(-4)).toEqual([0, 1, 2, 3]);
  });

  it('does nothing for a request over the limit', async () => {
    await countUntilRefused(() => tenant.api.post(LEADS, { first_name: 'A' }));
    expect(await tenant.api.get(LEADS)).toMatchObject({ body: { meta: { total: 3 } } });
  });

  it('neither counts nor extends by a 429', async () => {
    const { reset } = limitsOf(await tenant.api.get(ME));
    await countUntilRefused(() => tenant.api.get(ME));
    for (let i = 0; i < 5; i++) {
      const answer = await tenant.api.get(ME);
      expectRefusal(answer);
      expect(limitsOf(answer).reset).toBe(reset);
    }
  });

  it('tells the end of the window in Unix epoch seconds, the same over the window', async () => {
    const before = Date.now() / 1000;
    const resets = [await tenant.api.get(ME), await tenant.api.get(ME)].map(
      (answer) => limitsOf(answer).reset,
    );
    const after = Date.now() / 1000;
    expect(resets[0]).toBe(resets[1]);
    expect(resets[0]).toBeGreaterThanOrEqual(Math.floor(before + WINDOW_SECONDS));
    expect(resets[0]).toBeLessThanOrEqual(Math.ceil(after + WINDOW_SECONDS));
  });

  it('tells with Retry-After when the window ends, not earlier', async () => {
    await countUntilRefused(() => tenant.api.get(ME));
    const answer = await tenant.api.get(ME);
    const sentAt = Date.parse(answer.headers.get('date')!) / 1000;
    const end = sentAt + Number(answer.headers.get('retry-after'));
    expect(Math.abs(end - limitsOf(answer).reset)).toBeLessThanOrEqual(1);
  });
});

describe('every authenticated request counts, whatever its answer', () => {
  let app: TestApp;
  let tenant: Tenant;

  beforeAll(async () => {
    app = await start({ readsPerMinute: 100, writesPerMinute: 100 });
    tenant = await app.organization();
  });

  const CALLS: readonly [status: number, call: () => Promise<Answer>][] = [
    [200, () => tenant.api.get(ME)],
    [201, () => tenant.api.post(LEADS, { first_name: 'A' })],
    [400, () => tenant.api.get(`${LEADS}?limit=0`)],
    [400, () => tenant.api.post(LEADS, '{')],
    [404, () => tenant.api.get(`${LEADS}/x`)],
    [404, () => tenant.api.get('/api/v1/nothing')],
    [404, () => tenant.api.get('/nothing')],
    [404, () => tenant.api.get('/')],
    [404, () => tenant.api.request('PATCH', LEADS)],
    [404, () => tenant.api.get('/mcp/x')],
    [413, () => tenant.api.post(LEADS, ' '.repeat(300_000))],
    [415, () => tenant.api.post(LEADS, 'x', { headers: { 'Content-Type': 'text/plain' } })],
    [200, () => tenant.api.request('HEAD', LEADS)],
    [404, () => tenant.api.request('HEAD', '/nothing')],
  ];

  it.each(CALLS)('%i %s', async (status, call) => {
    const before = await call();
    const after = await call();
    expect([before.status, after.status]).toEqual([status, status]);
    expect(limitsOf(after).remaining).toBe(limitsOf(before).remaining - 1);
    expect(limitsOf(after)).toMatchObject({ limit: 100, reset: limitsOf(before).reset });
  });

  it('403', async () => {
    const { api } = await app.key(tenant.id, []);
    const answers = [await api.get(LEADS), await api.get(LEADS)];
    for (const answer of answers) expectError(answer, 403, 'insufficient_scope');
    expect(answers.map((answer) => limitsOf(answer).remaining)).toEqual([99, 98]);
  });
});

describe('OPTIONS', () => {
  it('is not counted, needs no key, tells the limits and is 404', async () => {
    const app = await start({ readsPerMinute: 5, writesPerMinute: 5 });
    const { api } = await app.organization();
    for (const path of [ME, LEADS, '/api/v1/nothing', '/', '/mcp']) {
      for (const caller of [api, app.client(), app.client(generateKey())]) {
        const answer = await caller.request('OPTIONS', path);
        expectError(answer, 404, 'not_found');
        expect(limitsOf(answer)).toMatchObject({ limit: 5, remaining: 5 });
      }
    }
    expect(limitsOf(await api.get(ME))).toMatchObject({ remaining: 4 });
    expect(limitsOf(await api.request('OPTIONS', ME))).toMatchObject({ remaining: 4 });
  });

  describe('where CORS is configured', () => {
    const ORIGIN = 'https://app.example';
    const preflight = {
      headers: {
        Origin: ORIGIN,
        'Access-Control-Request-Method': 'PUT',
        'Access-Control-Request-Headers': 'authorization, content-type',
      },
    };
    let app: TestApp;

    beforeAll(async () => {
      app = await start({ readsPerMinute: 5, corsOrigins: [ORIGIN] });
    });

    it('answers a preflight without a key, uncounted', async () => {
      for (let i = 0; i < 10; i++) {
        const { status, headers } = await app.client().request('OPTIONS', LEADS, preflight);
        expect(status).toBe(204);
        expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
        expect(headers.get('access-control-allow-methods')).toContain('PUT');
        expect(headers.get('access-control-allow-headers')).toContain('authorization');
        expect(headers.get('x-request-id')).not.toBeNull();
      }
      expect(limitsOf(await app.client().get('/'))).toMatchObject({ remaining: 4 });
    });

    it('tells the limits on a preflight too', async () => {
      expect(limitsOf(await app.client().request('OPTIONS', LEADS, preflight)).limit).toBe(5);
    });

    it('lets pages of that origin read the limits, refusals included, and no other', async () => {
      for (const [origin, allowed] of [
        [ORIGIN, ORIGIN],
        ['https://evil.example', null],
        ['null', null],
      ] as const) {
        const { headers } = await app.client().get(ME, { headers: { Origin: origin } });
        expect(headers.get('access-control-allow-origin')).toBe(allowed);
        expect(headers.get('vary')).toContain('Origin');
        if (allowed) {
          expect(headers.get('access-control-expose-headers')).toContain('RateLimit-Reset');
        }
      }
    });

    it('says nothing of CORS where none is configured', async () => {
      const { headers } = await first.client().get(ME, { headers: { Origin: ORIGIN } });
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    });
  });
});

describe('requests without a valid key', () => {
  let app: TestApp;
  let tenant: Tenant;

  beforeEach(async () => {
    app = await start({ readsPerMinute: 5, writesPerMinute: 2 });
    tenant = await app.organization();
  });

  it('count by address against the read limit, which turns 401 into 429', async () => {
    const strangers = [app.client(), app.client(generateKey()), app.client('nonsense')];
    const answers: Answer[] = [];
    for (let i = 0; i < 5; i++) answers.push(await strangers[i % 3]!.get(LEADS));
    for (const answer of answers) expectError(answer, 401, 'unauthorized');
    expect(answers.map((answer) => limitsOf(answer).remaining)).toEqual([4, 3, 2, 1, 0]);
    const refused = await app.client().get(LEADS);
    expectRefusal(refused);
    expect(refused.headers.get('www-authenticate')).toBeNull();
  });

  it('count writes with reads', async () => {
    for (let i = 0; i < 5; i++) {
      const answer = await app.client().post(LEADS, { first_name: 'A' });
      expectError(answer, 401, 'unauthorized');
      expect(limitsOf(answer)).toMatchObject({ limit: 5, remaining: 4 - i });
    }
    expectRefusal(await app.client().post(LEADS, { first_name: 'A' }));
    expectRefusal(await app.client().get('/nothing'));
  });

  it('never touch a valid key from the same address', async () => {
    await countUntilRefused(() => app.client().get(ME));
    expect(limitsOf(await tenant.api.get(ME))).toMatchObject({ remaining: 4 });
    expect(await tenant.api.post(LEADS, { first_name: 'A' })).toMatchObject({ status: 201 });
  });

  it('are not counted for the key that they were made of', async () => {
    const { api, key } = await app.key(tenant.id);
    await app.client(`${key.key}x`).get(ME);
    expect(limitsOf(await api.get(ME))).toMatchObject({ remaining: 4 });
  });

  it('count a key that has ended among them', async () => {
    const { api, key } = await app.key(tenant.id);
    await app.app.get(KeysService).revoke(key.id);
    expectError(await api.get(ME), 401, 'unauthorized');
    expect(limitsOf(await app.client().get(ME))).toMatchObject({ remaining: 3 });
  });

  it('count on unknown paths outside the API as well', async () => {
    expect(await countUntilRefused(() => app.client().get('/nothing'))).toBe(5);
  });
});

describe('TRUST_PROXY', () => {
  /** What is left to a stranger who comes with this X-Forwarded-For. */
  async function remaining(app: TestApp, forwarded: string): Promise<number> {
    const headers = { 'X-Forwarded-For': forwarded };
    return limitsOf(await app.client().get('/nothing', { headers })).remaining;
  }

  it('is off by default: X-Forwarded-For says nothing', async () => {
    const app = await start({ readsPerMinute: 50 });
    expect(await remaining(app, '203.0.113.1')).toBe(49);
    expect(await remaining(app, '203.0.113.2')).toBe(48);
    const headers = { Forwarded: 'for=203.0.113.3', 'X-Real-IP': '203.0.113.3' };
    expect(limitsOf(await app.client().get('/nothing', { headers })).remaining).toBe(47);
  });

  it.each([
    ['one hop', 1],
    ['a subnet', ['127.0.0.0/8']],
    ['loopback', ['loopback']],
  ])('tells addresses apart behind %s, by the last that is not trusted', async (_, trustProxy) => {
    const app = await start({ readsPerMinute: 50, trustProxy });
    expect(await remaining(app, '203.0.113.1')).toBe(49);
    expect(await remaining(app, '203.0.113.2')).toBe(49);
    expect(await remaining(app, '198.51.100.7, 203.0.113.1')).toBe(48);
    expect(await remaining(app, '198.51.100.8, 203.0.113.1')).toBe(47);
  });

  it('ignores X-Forwarded-For from an address that is not trusted', async () => {
    const app = await start({ readsPerMinute: 50, trustProxy: ['10.0.0.0/8'] });
    expect(await remaining(app, '203.0.113.1')).toBe(49);
    expect(await remaining(app, '203.0.113.2')).toBe(48);
  });

  it('counts IPv6 callers by the network that is theirs', async () => {
    const app = await start({ readsPerMinute: 50, trustProxy: 1 });
    expect(await remaining(app, '2001:db8:1:2::1')).toBe(49);
    expect(await remaining(app, '2001:db8:1:2:ffff::9')).toBe(48);
    expect(await remaining(app, '2001:db8:1:3::1')).toBe(49);
    expect(await remaining(app, '203.0.113.9')).toBe(49);
    expect(await remaining(app, '::ffff:203.0.113.9')).toBe(48);
  });

  it.each([
    ['one hop', 1],
    ['loopback', ['loopback']],
  ])(
    'is not upset by an X-Forwarded-For that names no address, behind %s',
    async (_, trustProxy) => {
      const app = await start({ readsPerMinute: 50, trustProxy });
      const texts = ['nonsense', '', ',', '1.2.3.4:5678', '[::1]:80', 'unknown', 'a'.repeat(5_000)];
      for (const forwarded of texts) {
        const headers = { 'X-Forwarded-For': forwarded };
        const answer = await app.client().get('/nothing', { headers });
        expectError(answer, 404, 'not_found');
        expect(limitsOf(answer).limit).toBe(50);
      }
    },
  );

  it.each(['0', '2', 'loopback', '10.0.0.1, fd00::/8, uniquelocal', '::ffff:10.0.0.1', '::/1'])(
    'is understood by Express where the settings take it: %s',
    (text) => {
      const express = new HttpAdapter().getInstance<Express>();
      express.set('trust proxy', readSettings({ TRUST_PROXY: text }).trustProxy);
      expect(express.get('trust proxy fn')).toBeInstanceOf(Function);
    },
  );
});
