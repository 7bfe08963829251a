import { randomUUID } from 'node:crypto';
import { OperatorsService } from '../../../src/modules/auth/operators.service.js';
import type { ApiClient } from '../../../src/testing/api-client.js';
import {
  createLead,
  dataOf,
  expectError,
  expectInvalid,
  LEADS,
} from '../../../src/testing/factories.js';
import { initializeRequest, rpcRequest, sessionHeader } from '../../../src/testing/mcp-client.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { until } from '../../support/servers/product.js';

// Broken on purpose for docs/operating/runbook.md#keys-or-sign-ins-are-refused

const ORGANIZATIONS = '/api/v1/organizations';
const ME = '/api/v1/me';

interface OrganizationRecord {
  readonly id: string;
  readonly name: string;
  readonly suspended: boolean;
}

interface KeyRecord {
  readonly id: string;
  readonly key: string;
}

let app: TestApp;
let operator: ApiClient;
let organization: OrganizationRecord;
let first: KeyRecord;

beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  const operators = app.app.get(OperatorsService);
  operator = app.client((await operators.createKey('Operator', null)).key);
  organization = dataOf(await operator.post(ORGANIZATIONS, { name: 'Harbor Roofing' }), 201);
  first = dataOf(await operator.post(`${pathOf()}/keys`, { name: 'First' }), 201);
});
afterAll(() => app.stop());

const pathOf = ({ id } = organization) => `${ORGANIZATIONS}/${id}`;
const put = (body: object, headers = {}) => operator.put(pathOf(), body, { headers });
const statusOf = async (api = app.client(first.key)) => (await api.get(ME)).status;

async function suspend(): Promise<void> {
  expect(dataOf(await put({ suspended: true }))).toMatchObject({ suspended: true });
  await until(async () => (await statusOf()) === 401);
}

async function resume(): Promise<void> {
  expect(dataOf(await put({ suspended: false }))).toMatchObject({ suspended: false });
  await until(async () => (await statusOf()) === 200);
}

/** docs/contract/keys-and-scopes.md#suspended-organizations */
describe('PUT /api/v1/organizations/:id', () => {
  it('renames an organization, and keeps what is left out', async () => {
    const changed = dataOf<OrganizationRecord>(await put({ name: 'Harbor', time_zone: 'UTC' }));
    expect(changed).toEqual({ ...organization, name: 'Harbor', has_had_key: true });
    expect(dataOf(await operator.get(pathOf()))).toEqual(changed);
    expect(dataOf(await put({}))).toEqual(changed);
  });

  it.each([
    ['name', { name: '' }],
    ['name', { name: null }],
    ['suspended', { suspended: null }],
    ['suspended', { suspended: 'yes' }],
    ['time_zone', { time_zone: 'Mars/Base' }],
    ['phone_region', { phone_region: 'DE' }],
    ['id', { id: randomUUID() }],
  ])('refuses a wrong %s: %j', async (field, body) => {
    expectInvalid(await put(body), field);
  });

  it('changes no organization of another operator or of none', async () => {
    const others = app.app.get(OperatorsService);
    const other = app.client((await others.createKey('Other', null)).key);
    const foreign = dataOf<OrganizationRecord>(await other.post(ORGANIZATIONS, { name: 'F' }), 201);
    const own = await app.organization();
    for (const path of [pathOf(foreign), `${ORGANIZATIONS}/${own.id}`, `${ORGANIZATIONS}/none`]) {
      expectError(await operator.put(path, { suspended: true }), 404, 'not_found');
      expectError(await operator.post(`${path}/first-key/replace`, undefined), 404, 'not_found');
    }
    expect(await statusOf(own.api)).toBe(200);
    expectError(await own.api.put(pathOf(), { name: 'Mine' }), 403, 'insufficient_scope');
  });

  it('changes only the version that If-Match names', async () => {
    const { headers } = await operator.get(pathOf());
    const match = { 'If-Match': headers.get('etag') ?? '' };
    dataOf(await put({ name: 'One' }, match));
    expectError(await put({ name: 'Two' }, match), 412, 'precondition_failed');
  });

  it('is told by an event', async () => {
    const { api } = await app.key(organization.id, ['events:read']);
    await put({ name: 'Renamed', suspended: false });
    const events = '/api/v1/events?types=organization.updated';
    let data: object[] = [];
    await until(async () => {
      ({ data } = (await api.get(events)).body as { data: object[] });
      return data.length > 0;
    });
    expect(data).toMatchObject([
      { record: { name: 'Renamed', suspended: false }, changed: ['name'] },
    ]);
  });
});

describe('a suspended organization', () => {
  it('has no valid keys within a second, until it is resumed', async () => {
    const { api } = await app.key(organization.id);
    const lead = await createLead(api);
    await suspend();
    await until(async () => (await statusOf(api)) === 401);
    expectError(await api.get(LEADS), 401, 'unauthorized');
    await resume();
    expect((await api.get(`${LEADS}/${lead.id}`)).status).toBe(200);
  });

  it('leaves the keys of other organizations', async () => {
    const other = await app.organization();
    await suspend();
    expect(await statusOf(other.api)).toBe(200);
  });

  it('ends its sessions and streams for good', async () => {
    const { api } = await app.key(organization.id);
    const opened = await api.post('/mcp', initializeRequest(), { headers: ACCEPT });
    const session = sessionHeader(opened.headers.get('mcp-session-id') ?? '');
    await suspend();
    await until(async () => (await statusOf(api)) === 401);
    await until(async () => (await sessionsOf()) === 0);
    await resume();
    await until(async () => (await statusOf(api)) === 200);
    const headers = { ...ACCEPT, ...session };
    const ping = () => api.post('/mcp', rpcRequest('ping'), { headers });
    // The instance looks up the sessions that it knows again and again.
    await until(async () => (await ping()).status !== 200);
    expectError(await ping(), 404, 'not_found');
  });

  it('refuses a request that waits for events', async () => {
    const { api } = await app.key(organization.id, ['events:read']);
    // The suspension is an event, too, which would end the wait.
    const waiting = api.get('/api/v1/events?wait=20&types=grant.created');
    await suspend();
    expectError(await waiting, 401, 'unauthorized');
  });

  it('has its imports cancelled', async () => {
    const { api } = await app.key(organization.id);
    const { id } = dataOf<{ id: string }>(await importLeads(api), 202);
    await suspend();
    const statusOfImport = async () => {
      const text = 'select status from lead_imports where id = $1';
      return (await app.sql<{ status: string }>(text, [id]))[0]?.status;
    };
    await until(async () => (await statusOfImport()) === 'cancelled');
    await resume();
    expect(dataOf(await api.get(`${LEADS}/imports/${id}`))).toMatchObject({
      status: 'cancelled',
      error: 'The organization was suspended.',
    });
    expect((await importLeads(api)).status).toBe(202);
  });
});

describe('POST /api/v1/organizations/:id/first-key/replace', () => {
  const replace = (headers = {}) =>
    operator.post(`${pathOf()}/first-key/replace`, undefined, { headers });

  it('replaces a first key that was never used, with the same fields, more than once', async () => {
    const second = dataOf<KeyRecord>(await replace(), 201);
    expect(second).toMatchObject({ name: 'First', ends_with: [], expires_at: null });
    const third = dataOf<KeyRecord>(await replace(), 201);
    expect(new Set([first.key, second.key, third.key]).size).toBe(3);
    await until(async () => (await statusOf(app.client(first.key))) === 401);
    expect(await statusOf(app.client(second.key))).toBe(401);
    expect(await statusOf(app.client(third.key))).toBe(200);
  });

  it('answers a replay without the key', async () => {
    const once = { 'Idempotency-Key': 'once' };
    const { key, ...created } = dataOf<KeyRecord>(await replace(once), 201);
    const again = await replace(once);
    expect(dataOf(again, 201)).toEqual(created);
    expect(await statusOf(app.client(key))).toBe(200);
  });

  it('is 409 first_key_exists once the first key was used', async () => {
    expect(await statusOf()).toBe(200);
    const text = 'select last_used_at from api_keys where id = $1';
    await until(async () => {
      const [row] = await app.sql<{ last_used_at: Date | null }>(text, [first.id]);
      return row?.last_used_at !== null;
    });
    expectError(await replace(), 409, 'first_key_exists');
    expect(await statusOf()).toBe(200);
  });

  it.each([
    ['it was revoked', async () => app.revoke({ id: organization.id, key: first } as never)],
    ['there are further keys', async () => app.key(organization.id)],
  ])('is 409 first_key_exists if %s', async (_, prepare) => {
    await prepare();
    expectError(await replace(), 409, 'first_key_exists');
  });

  it('replaces a first key that has expired without use', async () => {
    await app.sql(`update api_keys set expires_at = now() where id = $1`, [first.id]);
    const { key } = dataOf<KeyRecord>(await replace(), 201);
    expect(await statusOf(app.client(key))).toBe(200);
  });

  it('is 404 for an organization that had no key', async () => {
    organization = dataOf(await operator.post(ORGANIZATIONS, { name: 'None' }), 201);
    expectError(await replace(), 404, 'not_found');
  });
});

const ACCEPT = { Accept: 'application/json, text/event-stream' };

async function sessionsOf(): Promise<number> {
  const text = `select count(*)::int as count from mcp_sessions session
    join api_keys key on key.id = key_id where key.organization_id = $1`;
  return (await app.sql<{ count: number }>(text, [organization.id]))[0]!.count;
}

/** A file whose import takes longer than a suspension. */
function importLeads(api: ApiClient) {
  const lines = Array.from({ length: 20_000 }, (_, index) => `Ada,ada${index}@example.com`);
  const headers = { 'Content-Type': 'text/csv' };
  return api.post(`${LEADS}/imports`, ['first_name,email', ...lines].join('\n'), { headers });
}
