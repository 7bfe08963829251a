import type { Answer } from '../../src/testing/api-client.js';
import { expectEnvelope } from '../../src/testing/envelope.js';
import { createLead, LEADS } from '../../src/testing/factories.js';
import { TestApp, type Tenant } from '../../src/testing/test-app.js';
import { until } from '../support/product.js';
import { TcpProxy } from '../support/tcp-proxy.js';

/** Operations that may be under way at a time. */
const MOST = 64;
const TOO_MANY = 8;

let home: TestApp;
let proxy: TcpProxy;
let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  home = await TestApp.start();
  proxy = await TcpProxy.to(home.database);
  app = await TestApp.start({ settings: { metrics: true }, database: proxy.target });
  tenant = await app.organization();
});
afterAll(async () => {
  await app.stop();
  await proxy.close();
  await home.stop();
});

const OVERLOADED = { status: 503, code: 'overloaded', retryable: true };

it('refuses what comes while too much is under way, but no page, and then serves again', async () => {
  const { id } = await createLead(tenant.api);
  const get = () => tenant.api.get(`${LEADS}/${id}`);
  // Every shared connection is open before it falls silent.
  await Promise.all(Array.from({ length: 8 }, get));
  const answers: Answer[] = [];
  proxy.silence();
  const requests = Array.from({ length: MOST + TOO_MANY }, async () => {
    answers.push(await get());
  });
  await until(() => Promise.resolve(answers.length >= TOO_MANY));
  for (const refused of answers) {
    expectEnvelope(refused, OVERLOADED);
    expect(refused.headers.get('retry-after')).toBe('1');
  }
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const headers = { 'X-Request-Id': 'mine' };
  const others = await Promise.all([
    tenant.api.post(LEADS, { first_name: 'A' }),
    tenant.api.post('/mcp', ping),
    app.client().get(LEADS, { headers }),
  ]);
  for (const refused of others) expectEnvelope(refused, OVERLOADED);
  expect(others[2].headers.get('x-request-id')).toBe('mine');
  await expect(fetch(`${app.url}${LEADS}`, { signal: AbortSignal.timeout(20) })).rejects.toThrow();
  expect((await app.client().get('/health/live')).status).toBe(200);
  const scrape = async () => (await fetch(`${app.url}/metrics`)).text();
  const aborted = 'route="unknown",status="aborted"';
  await until(async () => (await scrape()).includes(aborted));
  const metrics = await scrape();
  const count = TOO_MANY + others.length;
  expect(metrics).toContain(`latitude_errors_total{code="overloaded"} ${count}`);

  await Promise.all(requests);
  expect((await get()).status).toBe(200);
});
