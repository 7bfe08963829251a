import http from 'node:http';
import {
  ConcurrencyLimit,
  MAX_LIMIT,
  TimeBudget,
} from '../../../../src/platform/data/gateway/policies.js';
import { TenantDatabase } from '../../../../src/platform/data/gateway/tenant-database.js';
import { expectEnvelope } from '../../../../src/testing/envelope.js';
import { createLead, LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { ImpatientTimeBudget, reachLimit } from '../../../support/overload.js';
import { until } from '../../../support/servers/product.js';
import { TcpProxy } from '../../../support/servers/tcp-proxy.js';

// Broken on purpose for docs/operating/runbook.md#requests-are-refused-as-overloaded

/** More requests than run at a time. */
const MANY = MAX_LIMIT + 8;

const OVERLOADED = { status: 503, code: 'overloaded', retryable: true };

let home: TestApp;
let proxy: TcpProxy;
/** Its database can be interrupted. */
let app: TestApp;
/** Refuses requests at once when it is busy. */
let impatient: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  home = await TestApp.start({ settings: { metrics: true } });
  proxy = await TcpProxy.to(home.database);
  app = await TestApp.start({ database: proxy.target, timeBudget: new TimeBudget() });
  impatient = await TestApp.start({
    settings: { metrics: true },
    database: home.database,
    timeBudget: new ImpatientTimeBudget(),
  });
  tenant = await app.organization();
});
afterAll(async () => {
  await impatient.stop();
  await app.stop();
  await proxy.close();
  await home.stop();
});

it('counts a transaction and its statements until they end', async () => {
  const limit = app.app.get(ConcurrencyLimit);
  const database = app.app.get(TenantDatabase);
  const counts: number[] = [limit.inFlight];
  await database.transaction({ tenant }, async () => {
    counts.push(limit.inFlight);
    const read = database.read({ tenant }, { text: 'select 1', values: [], plan: 'index' });
    counts.push(limit.inFlight);
    await read;
    counts.push(limit.inFlight);
  });
  expect([...counts, limit.inFlight]).toEqual([0, 1, 2, 1, 0]);
});

it('makes requests wait until others end', async () => {
  const { id } = await createLead(tenant.api);
  const api = home.client(tenant.key.key);
  const end = reachLimit(home);
  const arrived = nextRequests(home, MANY);
  const reads = Array.from({ length: MANY }, () => api.get(`${LEADS}/${id}`));
  await arrived;
  end();
  for (const { status } of await Promise.all(reads)) expect(status).toBe(200);
});

it('answers 503 to requests that have waited too long, except on pages', async () => {
  const { id } = await createLead(tenant.api);
  const api = impatient.client(tenant.key.key);
  const end = reachLimit(impatient);
  const refused = await api.get(`${LEADS}/${id}`);
  expect(refused.headers.get('retry-after')).toBe('1');
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  const headers = { 'X-Request-Id': 'mine' };
  const others = await Promise.all([
    api.post(LEADS, { first_name: 'A' }),
    api.post('/mcp', ping),
    impatient.client().get(LEADS, { headers }),
  ]);
  for (const answer of [refused, ...others]) expectEnvelope(answer, OVERLOADED);
  expect(others[2].headers.get('x-request-id')).toBe('mine');
  expect((await impatient.client().get('/health/live')).status).toBe(200);
  const count = 1 + others.length;
  expect(await metricsOf(impatient)).toContain(`latitude_errors_total{code="overloaded"} ${count}`);

  end();
  expect((await api.get(`${LEADS}/${id}`)).status).toBe(200);
});

it('counts a request as aborted if its client closes the connection while it waits', async () => {
  const end = reachLimit(home);
  const received = nextRequests(home, 1);
  const aborted = http.get(home.url + LEADS, { agent: false }).on('error', () => undefined);
  await received;
  aborted.destroy();
  await until(async () => {
    return (await metricsOf(home)).includes('route="unknown",status="aborted"');
  });
  end();
});

it('recovers after the database stopped responding to more reads than may run', async () => {
  const { id } = await createLead(tenant.api);
  const get = () => tenant.api.get(`${LEADS}/${id}`);
  proxy.pauseTraffic();
  const refused = await Promise.all(Array.from({ length: MANY }, get));
  proxy.resumeTraffic();
  const statuses = new Set(refused.map(({ status }) => status));
  expect(statuses).toContain(500);
  expect([500, 503]).toEqual(expect.arrayContaining([...statuses]));
  await until(async () => (await get()).status === 200);
});

async function metricsOf({ url }: TestApp): Promise<string> {
  return (await fetch(`${url}/metrics`)).text();
}

/** Resolves when a server has received so many more requests. */
function nextRequests({ app }: TestApp, count: number): Promise<void> {
  const server = app.getHttpServer();
  return new Promise((resolve) => {
    let received = 0;
    const listener = () => {
      if (++received < count) return;
      server.off('request', listener);
      resolve();
    };
    server.on('request', listener);
  });
}
