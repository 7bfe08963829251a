import { errorOf, expectError, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { connectAgent, stopWithAgents } from '../../../support/mcp/agent.js';

const BATCH = `${LEADS}/batch`;
const WRITES = 12;

let app: TestApp;

beforeAll(async () => {
  app = await TestApp.start({ settings: { writesPerMinute: WRITES } });
});
afterAll(() => stopWithAgents(app));

const items = (length: number) =>
  Array.from({ length }, () => ({ action: 'create', data: { first_name: 'Ada' } }));

const remaining = ({ headers }: { headers: Headers }) => Number(headers.get('ratelimit-remaining'));

describe('the limit of writes', () => {
  it.each([
    [1, 1],
    [10, 1],
    [11, 2],
    [20, 2],
    [21, 3],
    [100, 10],
  ])('counts a batch of %d items as %d writes', async (length, writes) => {
    const { api } = await app.organization();
    const answer = await api.post(BATCH, { items: items(length) });
    expect([answer.status, remaining(answer)]).toEqual([200, WRITES - writes]);
    expect(remaining(await api.post(LEADS, { first_name: 'Ada' }))).toBe(WRITES - writes - 1);
  });

  it('refuses a batch that would pass it, as a whole, and counts nothing', async () => {
    const { api } = await app.organization();
    await api.post(BATCH, { items: items(25) });
    const refused = await api.post(BATCH, { items: items(91) });
    expectError(refused, 429, 'rate_limit_exceeded');
    expect(remaining(refused)).toBe(WRITES - 3);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(errorOf(refused).message).toContain('counts as 10 writes, and 9 of 12 writes are left');
    expect((await api.get(LEADS)).body).toMatchObject({ meta: { total: 25 } });
    const fits = await api.post(BATCH, { items: items(90) });
    expect([fits.status, remaining(fits)]).toEqual([200, 0]);
    expectError(await api.post(BATCH, { items: items(1) }), 429, 'rate_limit_exceeded');
  });

  it('counts an invalid batch as one write', async () => {
    const { api } = await app.organization();
    const answer = await api.post(BATCH, { items: items(101) });
    expect([answer.status, remaining(answer)]).toEqual([400, WRITES - 1]);
  });

  it('counts a replay as the batch', async () => {
    const { api } = await app.organization();
    const headers = { 'Idempotency-Key': 'once' };
    await api.post(BATCH, { items: items(20) }, { headers });
    const again = await api.post(BATCH, { items: items(20) }, { headers });
    expect([again.status, remaining(again)]).toEqual([200, WRITES - 4]);
  });

  it('refuses create_leads that would pass it', async () => {
    const tenant = await app.organization();
    await tenant.api.post(BATCH, { items: items(100) });
    const agent = await connectAgent(app, tenant);
    const leads = Array.from({ length: 25 }, () => ({ first_name: 'Ada' }));
    const failure = await agent.fail('create_leads', { leads });
    expect(failure).toMatchObject({ code: 'rate_limit_exceeded', retryable: true });
    expect(failure.retry_after_seconds).toBeGreaterThan(0);
    await agent.succeed('create_leads', { leads: leads.slice(0, 20) });
  });
});
