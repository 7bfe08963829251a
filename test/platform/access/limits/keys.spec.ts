import { readSettings } from '../../../../src/platform/config/settings.js';
import type { Answer } from '../../../../src/testing/api-client.js';
import { createLead, errorOf, expectError, LEADS } from '../../../../src/testing/factories.js';
import type { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import {
  countUntilRefused,
  expectRefusal,
  instancesOnOneDatabase,
  limitsOf,
  WINDOW_SECONDS,
} from '../../../support/rate-limits.js';

// Broken on purpose for docs/operating/runbook.md#requests-are-refused-with-429

const ME = '/api/v1/me';

const start = instancesOnOneDatabase();

describe('the default limits', () => {
  it('are exactly 60 reads and 30 writes a minute', async () => {
    const { readsPerMinute, writesPerMinute } = readSettings({});
    const app = await start({ readsPerMinute, writesPerMinute });
    const { api } = await app.organization();
    expect(limitsOf(await api.get(ME))).toMatchObject({ limit: 60, remaining: 59 });
    expect(limitsOf(await api.post(LEADS, {}))).toMatchObject({ limit: 30, remaining: 29 });
    expect(await countUntilRefused(() => api.get(ME))).toBe(59);
    expect(await countUntilRefused(() => api.post(LEADS, { first_name: 'A' }))).toBe(29);
  });
});

describe('the rate limit of a key', () => {
  let app: TestApp;
  let tenant: Tenant;

  beforeAll(async () => {
    app = await start({ readsPerMinute: 4, writesPerMinute: 3 });
  });
  beforeEach(async () => {
    tenant = await app.organization();
  });

  it('counts reads and writes separately', async () => {
    expect(await countUntilRefused(() => tenant.api.get(ME))).toBe(4);
    expect(await countUntilRefused(() => tenant.api.post(LEADS, {}))).toBe(3);
  });

  it('names the exceeded limit in the message', async () => {
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

  it('counts each key of an organization separately', async () => {
    await countUntilRefused(() => tenant.api.get(ME));
    const colleague = await app.key(tenant.id);
    expect(limitsOf(await colleague.api.get(ME))).toMatchObject({ remaining: 3 });
  });

  it('counts all routes together', async () => {
    const { id } = await createLead(tenant.api);
    await tenant.api.put(`${LEADS}/${id}`, {});
    await tenant.api.delete(`${LEADS}/${id}`);
    expectRefusal(await tenant.api.post('/api/v1/tasks', { title: 'A' }));
  });

  it('counts concurrent requests exactly', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => tenant.api.get(ME)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(4);
    const remaining = answers.map((answer) => limitsOf(answer).remaining).sort();
    expect(remaining.slice(-4)).toEqual([0, 1, 2, 3]);
  });

  it('does not execute a request over the limit', async () => {
    await countUntilRefused(() => tenant.api.post(LEADS, { first_name: 'A' }));
    expect(await tenant.api.get(LEADS)).toMatchObject({ body: { meta: { total: 3 } } });
  });

  it('does not count a 429 and does not extend the window', async () => {
    const { reset } = limitsOf(await tenant.api.get(ME));
    await countUntilRefused(() => tenant.api.get(ME));
    for (let i = 0; i < 5; i++) {
      const answer = await tenant.api.get(ME);
      expectRefusal(answer);
      expect(limitsOf(answer).reset).toBe(reset);
    }
  });

  it('sends the same end of the window in Unix epoch seconds', async () => {
    const before = Date.now() / 1000;
    const resets = [await tenant.api.get(ME), await tenant.api.get(ME)].map(
      (answer) => limitsOf(answer).reset,
    );
    const after = Date.now() / 1000;
    expect(resets[0]).toBe(resets[1]);
    expect(resets[0]).toBeGreaterThanOrEqual(Math.floor(before + WINDOW_SECONDS));
    expect(resets[0]).toBeLessThanOrEqual(Math.ceil(after + WINDOW_SECONDS));
  });

  it('sends the seconds until the end of the window in Retry-After', async () => {
    await countUntilRefused(() => tenant.api.get(ME));
    const before = Date.now() / 1000;
    const answer = await tenant.api.get(ME);
    const after = Date.now() / 1000;
    const sentAt = limitsOf(answer).reset - Number(answer.headers.get('retry-after'));
    expect(sentAt).toBeGreaterThanOrEqual(before - 1);
    expect(sentAt).toBeLessThanOrEqual(after + 1);
  });
});

describe('a request with a valid key is counted with any status', () => {
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
    [404, () => tenant.api.get('/unknown')],
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
