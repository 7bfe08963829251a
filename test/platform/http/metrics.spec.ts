import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import http from 'node:http';
import { randomUUID } from 'node:crypto';
import { generateKey } from '../../../src/platform/access/api-key-format.js';
import { ERROR_CATALOGUE } from '../../../src/platform/errors/error-catalogue.js';
import { createLead, LEADS } from '../../../src/testing/factories.js';
import { planConnections } from '../../../src/platform/data/connection/connection-plan.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { TEST_SETTINGS } from '../../../src/testing/test-settings.mjs';
import type { Tenant } from '../../../src/testing/test-server.js';
import { captureLog } from '../../support/captured-log.js';
import { until } from '../../support/servers/product.js';

/** Part of the Debian package `prometheus`. */
const PROMTOOL = '/usr/bin/promtool';

const RECORD = `${LEADS}/:id`;

/** The value of each sample by its name and labels. */
type Samples = ReadonlyMap<string, number>;

let app: TestApp;
let tenant: Tenant;
let atStart: Samples;
/** The samples before a test. */
let before: Samples;

beforeAll(async () => {
  app = await TestApp.start();
  atStart = await samples();
});
beforeEach(async () => {
  tenant = await app.organization();
  before = await samples();
});
afterAll(() => app.stop());

describe('GET /metrics', () => {
  it("answers in Prometheus' text format and needs no key", async () => {
    const response = await fetch(`${app.url}/metrics?any=thing`);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain;.*version=0\.0\.4/);
    expect(response.headers.get('ratelimit-limit')).toBeNull();
    const lines = (await response.text()).split('\n');
    const line = /^$|^# (HELP|TYPE) \w+ .+|^\w+(\{\w+="[^"]*"(,\w+="[^"]*")*\})? \S+$/;
    expect(lines.filter((text) => !line.test(text))).toEqual([]);
  });

  it('counts requests by method, pattern of the route and status', async () => {
    const { id } = await createLead(tenant.api);
    await tenant.api.get(`${LEADS}/${id}`);
    await tenant.api.get(`${LEADS}/${id}?x=1`);
    await tenant.api.get(`${LEADS}/${randomUUID()}`);
    const after = await eventually(requests('GET', RECORD, 404), 1);
    expect(increase(after, requests('POST', LEADS, 201))).toBe(1);
    expect(increase(after, requests('GET', RECORD, 200))).toBe(1);
    expect(increase(after, requests('GET', RECORD, 400))).toBe(1);
    expect(increase(after, `http_request_duration_seconds_bucket${tags('+Inf')}`)).toBe(1);
  });

  it('counts all unknown paths under one label', async () => {
    const paths = Array.from({ length: 20 }, () => `/${randomUUID()}`);
    await Promise.all(paths.map((path) => tenant.api.get(path)));
    await tenant.api.request('PROPFIND', '/nowhere');
    await tenant.api.request('REPORT', '/nowhere');
    await eventually(requests('GET', 'unknown', 404), 20);
    await eventually(requests('other', 'unknown', 404), 2);
    const text = await scrape();
    expect(paths.filter((path) => text.includes(path))).toEqual([]);
    expect(text).not.toContain('nowhere');
  });

  it('contains no organization, key or personal data', async () => {
    const email = 'someone@example.com';
    const lead = await createLead(tenant.api, { email });
    await tenant.api.post(LEADS, { first_name: 'Again', email });
    await tenant.api.get(`${LEADS}?search=someone`);
    await eventually(requests('GET', LEADS, 200), 1);
    const text = await scrape();
    const secrets = [tenant.id, tenant.key.id, tenant.key.key, lead.id, email, 'someone'];
    expect(secrets.filter((secret) => text.includes(secret))).toEqual([]);
  });

  it('counts errors by code', async () => {
    await app.client().get(LEADS);
    await tenant.api.post(LEADS, {});
    await tenant.api.post(LEADS, {});
    const after = await eventually(errors('validation_error'), 2);
    expect(increase(after, errors('unauthorized'))).toBe(1);
  });

  it('starts every code of errors at 0', () => {
    const counted = Object.keys(ERROR_CATALOGUE).map((code) => atStart.get(errors(code)));
    expect(new Set(counted)).toEqual(new Set([0]));
  });

  it('counts requests that are aborted before the response', async () => {
    const request = http.request(app.url + LEADS, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${tenant.key.key}`,
        'Content-Type': 'application/json',
        'Content-Length': 10,
        Expect: '100-continue',
      },
    });
    request.on('error', () => undefined);
    await once(request, 'continue');
    request.destroy();
    await eventually(requests('POST', LEADS, 'aborted'), 1);
  });

  it('counts all connections to the database, including those of batches', async () => {
    await Promise.all(
      Array.from({ length: 30 }, (_, n) => createLead(tenant.api, { notes: `${n}` })),
    );
    await Promise.all(Array.from({ length: 8 }, () => tenant.api.get(`${LEADS}?search=a`)));
    await until(async () => {
      const [server] = await app.sql<{ open: number; idle: number }>(
        `select count(*)::int as open, (count(*) filter (where state = 'idle'))::int as idle
         from pg_stat_activity
         where datname = current_database() and application_name like 'latitude%'`,
      );
      const all = await samples();
      const open = all.get('latitude_database_connections') ?? 0;
      return (
        open === server?.open &&
        // More than the pool has, so that some are those of batches.
        open > planConnections(TEST_SETTINGS.databaseMaxConnections).pool &&
        all.get('latitude_database_connections_idle') === server.idle
      );
    });
  });

  it('counts refused keys by the reason', async () => {
    const { id } = tenant;
    const refused = async (key?: string) => {
      expect((await app.client(key).get(LEADS)).status).toBe(401);
    };
    await refused();
    await refused('lat_typed-wrong');
    const { key } = (await app.key(id)).key;
    // The same key with another checksum, and one that does not exist.
    await refused(`${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`);
    await refused(generateKey());
    const ended = await app.key(id);
    await app.revoke(ended);
    await refused(ended.key.key);
    const expired = await app.key(id, undefined, { expiresAt: new Date(Date.now() + 1) });
    await until(() => Promise.resolve(expired.key.expires_at!.getTime() < Date.now()));
    await refused(expired.key.key);
    const all = await samples();
    const counted = (reason: string) =>
      increase(all, `latitude_refused_keys_total{reason="${reason}"}`);
    expect(['missing', 'malformed', 'unknown', 'expired'].map(counted)).toEqual([1, 2, 2, 1]);
  });

  (existsSync(PROMTOOL) ? it : it.skip)('has no problem that promtool finds', async () => {
    await createLead(tenant.api);
    const input = await scrape();
    const { status, stderr } = spawnSync(PROMTOOL, ['check', 'metrics'], {
      input,
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it('has metrics of the pool, the key cache, the process and the build', async () => {
    await tenant.api.get(LEADS);
    await tenant.api.get(LEADS);
    const { version } = jest.requireActual<{ version: string }>('../../../package.json');
    const all = await samples();
    expect(all.get('latitude_database_connections')).toBeGreaterThan(0);
    expect(all.get('latitude_database_connections_idle')).toBeGreaterThan(0);
    // Work in the background can wait for a connection for a moment.
    await until(async () => (await samples()).get('latitude_database_waiting') === 0);
    expect(increase(all, 'latitude_key_lookups_total{source="database"}')).toBe(1);
    expect(increase(all, 'latitude_key_lookups_total{source="memory"}')).toBe(1);
    expect(all.get('process_resident_memory_bytes')).toBeGreaterThan(0);
    const build = `latitude_build_info{version="${version}",node="${process.versions.node}"}`;
    expect(all.get(build)).toBe(1);
  });
});

describe('latitude_rate_limit_refusals_total', () => {
  it('counts refused reads and writes of keys, and refused requests without a valid key', async () => {
    const settings = { readsPerMinute: 2, writesPerMinute: 1 };
    const limited = await TestApp.start({ settings });
    const { api } = await limited.organization();
    for (let n = 0; n < 4; n++) await api.get(LEADS);
    for (let n = 0; n < 4; n++) await api.post(LEADS, {});
    for (let n = 0; n < 3; n++) await limited.client().get(LEADS);
    const all = await samples(limited);
    const refused = (limit: string) =>
      all.get(`latitude_rate_limit_refusals_total{limit="${limit}"}`);
    expect([refused('reads'), refused('writes'), refused('address')]).toEqual([2, 3, 1]);
    await limited.stop();
  });
});

describe('METRICS=off', () => {
  it('makes /metrics a 404', async () => {
    const without = await TestApp.start({ settings: { metrics: false } });
    const answer = await without.client().get('/metrics');
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    await without.stop();
  });
});

describe('METRICS_PORT', () => {
  const log = captureLog('info');
  const logged = () => log.map((line) => /http:\S+\/metrics/.exec(line)?.[0]).find(Boolean)!;
  const settings = { metricsPort: 0, logLevel: 'info' } as const;
  let ported: TestApp;
  let address: string;
  beforeAll(async () => {
    ported = await TestApp.start({ settings });
    address = logged();
  });
  afterAll(() => ported.stop());

  it('serves the metrics of the requests of the other port, without a key', async () => {
    await ported.client().get(LEADS);
    await until(async () => {
      const text = await (await fetch(`${address}?any=thing`)).text();
      return text.includes(`${errors('unauthorized')} 1\n`);
    });
    const { status, headers } = await fetch(address);
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^text\/plain;.*version=0\.0\.4/);
  });

  it.each<[string, string, number]>([
    ['HEAD', '/metrics', 200],
    ['POST', '/metrics', 405],
    ['GET', '/', 404],
    ['GET', '/metrics/', 404],
    ['GET', '/health/ready', 404],
    ['GET', LEADS, 404],
  ])('answers %s %s with %d', async (method, path, status) => {
    const answer = await fetch(new URL(path, address), { method });
    expect([answer.status, await answer.text()]).toEqual([status, '']);
  });

  it('makes /metrics of the other port an unknown route, to which the start page does not link', async () => {
    const answer = await ported.client().get('/metrics');
    expect(answer).toMatchObject({ status: 404, body: { error: { code: 'not_found' } } });
    expect(await (await fetch(ported.url)).json()).not.toHaveProperty('metrics');
  });

  it('ends the start with one line if the port is in use', async () => {
    const metricsPort = Number(new URL(address).port);
    await expect(
      TestApp.start({ settings: { metricsPort }, database: ported.database }),
    ).rejects.toThrow(
      `HOST, METRICS_PORT cannot be used: no server can listen on 127.0.0.1:${metricsPort} (EADDRINUSE)`,
    );
  });

  it('frees the port when the server has stopped', async () => {
    const stopped = await TestApp.start({ settings, database: ported.database });
    const url = logged();
    expect((await fetch(url)).status).toBe(200);
    await stopped.stop();
    await expect(fetch(url)).rejects.toThrow();
  });
});

function requests(method: string, route: string, status: number | string): string {
  return `http_request_duration_seconds_count{method="${method}",route="${route}",status="${status}"}`;
}

function tags(le: string): string {
  return `{le="${le}",method="POST",route="${LEADS}",status="201"}`;
}

function errors(code: string): string {
  return `latitude_errors_total{code="${code}"}`;
}

async function scrape(of = app): Promise<string> {
  return (await fetch(`${of.url}/metrics`)).text();
}

async function samples(of = app): Promise<Samples> {
  const lines = (await scrape(of)).split('\n').filter((line) => /^\w/.test(line));
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' ');
      return [line.slice(0, end), Number(line.slice(end + 1))];
    }),
  );
}

/** By how much the test has increased a sample. */
function increase(after: Samples, name: string): number {
  return (after.get(name) ?? 0) - (before.get(name) ?? 0);
}

/**
 * Waits until the test has increased a sample by `value`. A request is counted when the response is sent, which
 * can be just after the client has it.
 */
async function eventually(name: string, value: number): Promise<Samples> {
  let after: Samples = new Map();
  await until(async () => increase((after = await samples()), name) === value);
  return after;
}
