import type { Express } from 'express';
import { generateKey } from '../../../../src/platform/access/api-key-format.js';
import { readSettings } from '../../../../src/platform/config/settings.js';
import { HttpAdapter } from '../../../../src/platform/http/lifecycle/http-adapter.js';
import type { Answer } from '../../../../src/testing/api-client.js';
import { expectError, LEADS } from '../../../../src/testing/factories.js';
import type { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import {
  countUntilRefused,
  expectRefusal,
  instancesOnOneDatabase,
  limitsOf,
} from '../../../support/rate-limits.js';

// Broken on purpose for docs/operating/runbook.md#requests-are-refused-with-429

const ME = '/api/v1/me';

const startInstance = instancesOnOneDatabase();
const instances = new Map<string, Promise<TestApp>>();

/** Returns the instance with these settings. The tests that share one send requests from addresses of their own. */
function instanceWith(settings: Parameters<typeof startInstance>[0]): Promise<TestApp> {
  const key = JSON.stringify(settings);
  const instance = instances.get(key) ?? startInstance(settings);
  instances.set(key, instance);
  return instance;
}

describe('requests without a valid key', () => {
  let app: TestApp;
  let tenant: Tenant;
  let tests = 0;
  /** The address of the client, one for each test. */
  let from: { headers: Record<string, string> };

  beforeEach(async () => {
    app = await instanceWith({ readsPerMinute: 5, writesPerMinute: 2, trustProxy: 1 });
    tenant = await app.organization();
    from = { headers: { 'X-Forwarded-For': `203.0.113.${++tests}` } };
  });

  it('are counted by address against the read limit, which makes 401 a 429', async () => {
    const clients = [app.client(), app.client(generateKey()), app.client('nonsense')];
    const answers: Answer[] = [];
    for (let i = 0; i < 5; i++) answers.push(await clients[i % 3]!.get(LEADS, from));
    for (const answer of answers) expectError(answer, 401, 'unauthorized');
    expect(answers.map((answer) => limitsOf(answer).remaining)).toEqual([4, 3, 2, 1, 0]);
    const refused = await app.client().get(LEADS, from);
    expectRefusal(refused);
    expect(refused.headers.get('www-authenticate')).toBeNull();
  });

  it('are counted together, reads and writes', async () => {
    for (let i = 0; i < 5; i++) {
      const answer = await app.client().post(LEADS, { first_name: 'A' }, from);
      expectError(answer, 401, 'unauthorized');
      expect(limitsOf(answer)).toMatchObject({ limit: 5, remaining: 4 - i });
    }
    expectRefusal(await app.client().post(LEADS, { first_name: 'A' }, from));
    expectRefusal(await app.client().get('/nothing', from));
  });

  it('are not counted for a valid key from the same address', async () => {
    await countUntilRefused(() => app.client().get(ME, from));
    expect(limitsOf(await tenant.api.get(ME, from))).toMatchObject({ remaining: 4 });
    expect(await tenant.api.post(LEADS, { first_name: 'A' }, from)).toMatchObject({ status: 201 });
  });

  it('are not counted for the key that they resemble', async () => {
    const { api, key } = await app.key(tenant.id);
    await app.client(`${key.key}x`).get(ME, from);
    expect(limitsOf(await api.get(ME, from))).toMatchObject({ remaining: 4 });
  });

  it('include requests with a revoked key', async () => {
    const revoked = await app.key(tenant.id);
    await app.revoke(revoked);
    expectError(await revoked.api.get(ME, from), 401, 'unauthorized');
    expect(limitsOf(await app.client().get(ME, from))).toMatchObject({ remaining: 3 });
  });

  it('are counted on unknown paths outside the API', async () => {
    expect(await countUntilRefused(() => app.client().get('/nothing', from))).toBe(5);
  });
});

describe('TRUSTED_ADDRESSES', () => {
  const limitOf = async (app: TestApp, forwarded: string, key?: string) => {
    const headers = { 'X-Forwarded-For': forwarded };
    return limitsOf(await app.client(key).get('/nothing', { headers }));
  };

  it('have limits by address that are 100 times as large', async () => {
    const trustedAddresses = ['203.0.113.0/24', '198.51.100.7', '2001:db8::/32'];
    const app = await instanceWith({ readsPerMinute: 5, trustProxy: 1, trustedAddresses });
    for (const address of ['203.0.113.9', '::ffff:203.0.113.10', '198.51.100.7', '2001:db8::9']) {
      expect(await limitOf(app, address)).toMatchObject({ limit: 500, remaining: 499 });
    }
    for (const address of ['203.0.114.9', '198.51.100.8', '2001:db9::9']) {
      expect(await limitOf(app, address)).toMatchObject({ limit: 5, remaining: 4 });
    }
    for (let sent = 0; sent < 6; sent++) await limitOf(app, '198.51.100.7');
    expect(await limitOf(app, '198.51.100.7')).toMatchObject({ limit: 500, remaining: 492 });
  });

  it('have no effect on a valid key', async () => {
    const app = await instanceWith({ readsPerMinute: 5, trustedAddresses: ['127.0.0.0/8'] });
    const { key } = await app.organization();
    expect(await limitOf(app, '', key.key)).toMatchObject({ limit: 5 });
  });
});

describe('TRUST_PROXY', () => {
  /** Sends a request without a key and returns its RateLimit-Remaining. */
  async function remaining(app: TestApp, forwarded: string): Promise<number> {
    const headers = { 'X-Forwarded-For': forwarded };
    return limitsOf(await app.client().get('/nothing', { headers })).remaining;
  }

  it('is off by default: X-Forwarded-For is ignored', async () => {
    const app = await instanceWith({ readsPerMinute: 50 });
    expect(await remaining(app, '203.0.113.1')).toBe(49);
    expect(await remaining(app, '203.0.113.2')).toBe(48);
    const headers = { Forwarded: 'for=203.0.113.3', 'X-Real-IP': '203.0.113.3' };
    expect(limitsOf(await app.client().get('/nothing', { headers })).remaining).toBe(47);
  });

  it.each([
    ['one hop', 1],
    ['a subnet', ['127.0.0.0/8']],
    ['loopback', ['loopback']],
  ])('counts by the last untrusted address behind %s', async (_, trustProxy) => {
    const app = await instanceWith({ readsPerMinute: 50, trustProxy });
    expect(await remaining(app, '203.0.113.1')).toBe(49);
    expect(await remaining(app, '203.0.113.2')).toBe(49);
    expect(await remaining(app, '198.51.100.7, 203.0.113.1')).toBe(48);
    expect(await remaining(app, '198.51.100.8, 203.0.113.1')).toBe(47);
  });

  it('ignores X-Forwarded-For from an address that is not trusted', async () => {
    const app = await instanceWith({ readsPerMinute: 50, trustProxy: ['10.0.0.0/8'] });
    expect(await remaining(app, '203.0.113.1')).toBe(49);
    expect(await remaining(app, '203.0.113.2')).toBe(48);
  });

  it('counts IPv6 addresses by their network', async () => {
    const app = await instanceWith({ readsPerMinute: 50, trustProxy: 1 });
    expect(await remaining(app, '2001:db8:1:2::1')).toBe(49);
    expect(await remaining(app, '2001:db8:1:2:ffff::9')).toBe(48);
    expect(await remaining(app, '2001:db8:1:3::1')).toBe(49);
    expect(await remaining(app, '203.0.113.9')).toBe(49);
    expect(await remaining(app, '::ffff:203.0.113.9')).toBe(48);
  });

  it.each([
    ['one hop', 1],
    ['loopback', ['loopback']],
  ])('ignores an X-Forwarded-For that is not an address, behind %s', async (_, trustProxy) => {
    const app = await instanceWith({ readsPerMinute: 50, trustProxy });
    const texts = ['nonsense', '', ',', '1.2.3.4:5678', '[::1]:80', 'unknown', 'a'.repeat(5_000)];
    for (const forwarded of texts) {
      const headers = { 'X-Forwarded-For': forwarded };
      const answer = await app.client().get('/nothing', { headers });
      expectError(answer, 404, 'not_found');
      expect(limitsOf(answer).limit).toBe(50);
    }
  });

  it.each(['0', '2', 'loopback', '10.0.0.1, fd00::/8, uniquelocal', '::ffff:10.0.0.1', '::/1'])(
    'is accepted by Express if the settings accept it: %s',
    (text) => {
      const express = new HttpAdapter().getInstance<Express>();
      express.set('trust proxy', readSettings({ TRUST_PROXY: text }).trustProxy);
      expect(express.get('trust proxy fn')).toBeInstanceOf(Function);
    },
  );
});
