import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import { ConcurrencyLimit } from '../../../src/database/gateway/concurrency-limit.js';
import { TenantDatabase } from '../../../src/database/gateway/tenant-database.js';
import { ServerTimeBudget } from '../../../src/database/gateway/time-budget.js';
import { expectEnvelope } from '../../../src/testing/envelope.js';
import { createLead, LEADS } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { until } from '../../support/servers/product.js';
import { TcpProxy } from '../../support/servers/tcp-proxy.js';

/** Maximum number of concurrent operations. */
const MAX_CONCURRENT = 64;
const TOO_MANY = 8;

let home: TestApp;
let proxy: TcpProxy;
let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  home = await TestApp.start();
  proxy = await TcpProxy.to(home.database);
  app = await TestApp.start({
    settings: { metrics: true },
    database: proxy.target,
    timeBudget: new ServerTimeBudget(),
  });
  tenant = await app.organization();
});
afterAll(async () => {
  await app.stop();
  await proxy.close();
  await home.stop();
});

const OVERLOADED = { status: 503, code: 'overloaded', retryable: true };

/** Begins the maximum number of operations. `end` ends them all. */
function fill(limit: ConcurrencyLimit): { end(): void } {
  for (let n = 0; n < MAX_CONCURRENT; n++) limit.acquire();
  return {
    end: () => {
      for (let n = 0; n < MAX_CONCURRENT; n++) limit.release();
    },
  };
}

it('counts a transaction and its statements until they end', async () => {
  const limit = app.app.get(ConcurrencyLimit);
  const database = app.app.get(TenantDatabase);
  const counts: number[] = [limit.inFlight];
  await database.transaction(tenant, async () => {
    counts.push(limit.inFlight);
    const read = database.read(tenant, { text: 'select 1', values: [], plan: 'index' });
    counts.push(limit.inFlight);
    await read;
    counts.push(limit.inFlight);
  });
  expect([...counts, limit.inFlight]).toEqual([0, 1, 2, 1, 0]);
});

it('answers 503 under overload except on pages, and recovers', async () => {
  const { id } = await createLead(tenant.api);
  const get = () => tenant.api.get(`${LEADS}/${id}`);
  const underWay = fill(app.app.get(ConcurrencyLimit));
  for (const refused of await Promise.all(Array.from({ length: TOO_MANY }, get))) {
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
  await abortOnArrival();
  expect((await app.client().get('/health/live')).status).toBe(200);
  const scrape = async () => (await fetch(`${app.url}/metrics`)).text();
  const aborted = 'route="unknown",status="aborted"';
  await until(async () => (await scrape()).includes(aborted));
  const metrics = await scrape();
  const count = TOO_MANY + others.length;
  expect(metrics).toContain(`latitude_errors_total{code="overloaded"} ${count}`);

  underWay.end();
  expect((await get()).status).toBe(200);
});

it('recovers after the database stopped responding to more reads than may run', async () => {
  const { id } = await createLead(tenant.api);
  const get = () => tenant.api.get(`${LEADS}/${id}`);
  proxy.pauseTraffic();
  const refused = await Promise.all(Array.from({ length: MAX_CONCURRENT + TOO_MANY }, get));
  proxy.resumeTraffic();
  const statuses = new Set(refused.map(({ status }) => status));
  expect(statuses).toContain(500);
  expect([500, 503]).toEqual(expect.arrayContaining([...statuses]));
  await until(async () => (await get()).status === 200);
});

/** Sends a request under overload and closes the connection as soon as the server has received the request. */
async function abortOnArrival(): Promise<void> {
  // The server delays a 503 by a random time. Nearly the longest one lets the client abort before the 503.
  jest.spyOn(Math, 'random').mockReturnValue(0.99);
  const aborted = http.get(app.url + LEADS, { agent: false }).on('error', () => undefined);
  const [, response] = (await once(app.app.getHttpServer(), 'request')) as [
    IncomingMessage,
    ServerResponse,
  ];
  aborted.destroy();
  await once(response, 'close');
  jest.restoreAllMocks();
}
