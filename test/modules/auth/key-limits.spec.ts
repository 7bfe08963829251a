import { OperatorsService } from '../../../src/modules/auth/operators.service.js';
import { KeysService } from '../../../src/modules/auth/keys.service.js';
import type { ApiClient } from '../../../src/testing/api-client.js';
import {
  dataOf,
  errorOf,
  expectError,
  expectInvalid,
  LEADS,
} from '../../../src/testing/factories.js';
import type { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { forgetCachedKeys } from '../../support/cached-keys.js';
import { readAllEvents } from '../../support/events.js';
import { connectAgent, textOf } from '../../support/mcp/agent.js';
import {
  countUntilRefused,
  expectRefusal,
  instancesOnOneDatabase,
  limitsOf,
} from '../../support/rate-limits.js';

const KEYS = '/api/v1/keys';
const ME = '/api/v1/me';
const ORGANIZATIONS = '/api/v1/organizations';
const MANAGER = ['events:read', 'keys:read', 'keys:write', 'leads:read', 'leads:write'] as const;
const DEFAULTS = { reads_per_minute: 20, writes_per_minute: 20 };
const LARGEST = { reads_per_minute: 90, writes_per_minute: 80 };

interface Limits {
  readonly reads_per_minute: number | null;
  readonly writes_per_minute: number | null;
}

interface KeyRecord extends Limits {
  readonly id: string;
  readonly key: string;
}

const start = instancesOnOneDatabase();
let app: TestApp;
let keys: KeysService;

beforeAll(async () => {
  app = await start({
    ...{ readsPerMinute: 20, writesPerMinute: 20 },
    ...{ keyMaxReadsPerMinute: 90, keyMaxWritesPerMinute: 80 },
  });
  keys = app.app.get(KeysService);
});
afterEach(() => {
  jest.restoreAllMocks();
});

/** An organization with a key that manages keys, and has these limits of its own. */
const managerOf = (reads?: number, writes?: number): Promise<Tenant> =>
  app.organization({ scopes: MANAGER, readsPerMinute: reads, writesPerMinute: writes });

const make = async ({ api }: Pick<Tenant, 'api'>, limits: object = {}): Promise<KeyRecord> =>
  dataOf<KeyRecord>(await api.post(KEYS, { name: 'n8n', scopes: ['leads:read'], ...limits }), 201);

const shownTo = async (api: ApiClient) =>
  dataOf<{ limits: object }>(await api.get(ME)).limits as Limits;

const setLimits = async ({ id, key }: Tenant, limits: Partial<Limits>): Promise<void> => {
  await keys.setLimits({ tenant: { id } }, key.id, limits);
  forgetCachedKeys();
};

const storedOf = async ({ api }: Pick<Tenant, 'api'>, id: string): Promise<Limits> => {
  const { reads_per_minute, writes_per_minute } = dataOf<KeyRecord>(await api.get(`${KEYS}/${id}`));
  return { reads_per_minute, writes_per_minute };
};

describe('a key with limits of its own', () => {
  it('is limited to them, in the headers, at GET /me and in the organization', async () => {
    const { api } = await app.organization({ readsPerMinute: 5, writesPerMinute: 3 });
    expect(limitsOf(await api.get(LEADS))).toMatchObject({ limit: 5, remaining: 4 });
    const limits = { reads_per_minute: 5, writes_per_minute: 3 };
    expect(await shownTo(api)).toEqual(limits);
    expect(dataOf(await api.get('/api/v1/organization'))).toMatchObject({ limits });
    expect(await countUntilRefused(() => api.get(LEADS))).toBe(2);
    expect(await countUntilRefused(() => api.post(LEADS, { first_name: 'Ada' }))).toBe(3);
  });

  it('has one limit of its own, and the other by default', async () => {
    const { api } = await app.organization({ readsPerMinute: 70 });
    expect(await shownTo(api)).toEqual({ ...DEFAULTS, reads_per_minute: 70 });
  });

  it('has them at /mcp, in windows that REST shares', async () => {
    const tenant = await app.organization({ readsPerMinute: 3, writesPerMinute: 2 });
    const agent = await connectAgent(app, tenant);
    const whoami: unknown = JSON.parse(textOf(await agent.call('whoami')));
    expect(whoami).toMatchObject({ limits: { reads: { limit: 3 }, writes: { limit: 2 } } });
    await agent.call('list_leads', {});
    expect(limitsOf(await tenant.api.get(LEADS))).toMatchObject({ limit: 3, remaining: 1 });
    await agent.call('list_leads', {});
    const refused = await agent.call('list_leads', {});
    expect([refused.isError, textOf(refused)]).toEqual([
      true,
      expect.stringContaining('rate_limit_exceeded'),
    ]);
    await agent.close();
  });

  it('has those of a lower setting while it has larger ones', async () => {
    const tenant = await app.organization({ readsPerMinute: 90 });
    const strict = await start({ readsPerMinute: 20, keyMaxReadsPerMinute: 30 });
    expect(await shownTo(strict.client(tenant.key.key))).toMatchObject({ reads_per_minute: 30 });
    expect(await shownTo(tenant.api)).toMatchObject({ reads_per_minute: 90 });
  });

  it('is refused limits above the settings', async () => {
    const largest = { readsPerMinute: 90, writesPerMinute: 80 };
    expect(await shownTo((await app.organization(largest)).api)).toEqual(LARGEST);
    const create = (limits: object) => app.organization({ ...largest, ...limits });
    await expect(create({ readsPerMinute: 91 })).rejects.toThrow('must be at most 90');
    await expect(create({ writesPerMinute: 81 })).rejects.toThrow('must be at most 80');
  });
});

describe('a change of the limits of a key', () => {
  it('applies in the middle of a window, upwards and downwards', async () => {
    const tenant = await app.organization({ readsPerMinute: 4 });
    const { api } = tenant;
    expect(await countUntilRefused(() => api.get(ME))).toBe(4);
    await setLimits(tenant, { reads_per_minute: 10 });
    expect(limitsOf(await api.get(ME))).toMatchObject({ limit: 10, remaining: 5 });
    await setLimits(tenant, { reads_per_minute: 2 });
    const refused = await api.get(ME);
    expectRefusal(refused);
    expect(limitsOf(refused).limit).toBe(2);
    await setLimits(tenant, { reads_per_minute: null });
    expect(limitsOf(await api.get(ME))).toMatchObject({ limit: 20, remaining: 14 });
  });

  it('leaves the other limit, and is an event of the key', async () => {
    const tenant = await managerOf(30, 40);
    for (const writes_per_minute of [5, 5, 6]) await setLimits(tenant, { writes_per_minute });
    expect(await shownTo(tenant.api)).toEqual({ reads_per_minute: 30, writes_per_minute: 6 });
    const { id } = tenant.key;
    expect(await readAllEvents(tenant.api, 2, 'types=key.updated')).toMatchObject([
      { changed: ['writes_per_minute'], record: { id, writes_per_minute: 5 } },
      { changed: ['writes_per_minute'], record: { id, writes_per_minute: 6 } },
    ]);
  });

  it('lowers those of the keys that end with it, and raises none', async () => {
    const tenant = await managerOf(60, 60);
    const first = await make(tenant, { reads_per_minute: 50, writes_per_minute: 4 });
    const manager = await make(tenant, { scopes: MANAGER, reads_per_minute: 60 });
    const second = await make({ api: app.client(manager.key) }, { reads_per_minute: 55 });
    await setLimits(tenant, { reads_per_minute: 10 });
    expect(await storedOf(tenant, first.id)).toEqual({
      reads_per_minute: 10,
      writes_per_minute: 4,
    });
    expect(await storedOf(tenant, second.id)).toMatchObject({ reads_per_minute: 10 });
    await setLimits(tenant, { reads_per_minute: 90 });
    expect(await storedOf(tenant, first.id)).toMatchObject({ reads_per_minute: 10 });
    await setLimits(tenant, { reads_per_minute: null });
    expect(await storedOf(tenant, first.id)).toMatchObject({ reads_per_minute: 10 });
  });

  it('lowers a key with the default limits', async () => {
    const tenant = await managerOf();
    const { id } = await make(tenant);
    expect(await storedOf(tenant, id)).toEqual({ reads_per_minute: null, writes_per_minute: null });
    await setLimits(tenant, { writes_per_minute: 7 });
    expect(await storedOf(tenant, id)).toEqual({ reads_per_minute: null, writes_per_minute: 7 });
  });
});

describe('a key that is made over REST', () => {
  it('gets the smaller of its maker and the default', async () => {
    expect(await make(await managerOf(60, 60))).toMatchObject(DEFAULTS);
    expect(await make(await managerOf(7, 60))).toMatchObject({
      reads_per_minute: 7,
      writes_per_minute: 20,
    });
    const made = await make(await managerOf());
    expect(await shownTo(app.client(made.key))).toEqual(DEFAULTS);
  });

  it('gets the limits of the request, at most those of its maker', async () => {
    const maker = await managerOf(60, 15);
    const limits = { reads_per_minute: 60, writes_per_minute: 15 };
    const made = await make(maker, limits);
    expect(made).toMatchObject(limits);
    expect(await shownTo(app.client(made.key))).toEqual(limits);
    const post = (body: object, by = maker) =>
      by.api.post(KEYS, { name: 'more', scopes: ['leads:read'], ...body });
    for (const body of [{ reads_per_minute: 61 }, { writes_per_minute: 16 }]) {
      const refused = await post(body);
      expectInvalid(refused, ...Object.keys(body));
      expect(errorOf(refused).message).toContain('the limit of the key of the request');
    }
    expectInvalid(await post({ reads_per_minute: 21 }, await managerOf()), 'reads_per_minute');
    for (const reads_per_minute of [0, -1, 1.5, '5', 1e10]) {
      expectInvalid(await post({ reads_per_minute }), 'reads_per_minute');
    }
  });

  it('keeps them in a rotation', async () => {
    const maker = await managerOf(60, 60);
    const limits = { reads_per_minute: 31, writes_per_minute: 32 };
    const { id } = await make(maker, limits);
    const rotated = await maker.api.post(`${KEYS}/${id}/rotate`, {});
    expect(dataOf<object>(rotated, 201)).toMatchObject(limits);
    const own = await maker.api.post(`${KEYS}/${maker.key.id}/rotate`, {});
    const { key } = dataOf<KeyRecord>(own, 201);
    expect(await shownTo(app.client(key))).toEqual({
      reads_per_minute: 60,
      writes_per_minute: 60,
    });
  });

  it('does not rotate a key with larger limits', async () => {
    const tenant = await managerOf(60, 20);
    const rotate = ({ id }: { id: string }, by: KeyRecord) =>
      app.client(by.key).post(`${KEYS}/${id}/rotate`, {});
    const slow = await make(tenant, { scopes: MANAGER });
    const large = await make(tenant, { reads_per_minute: 21 });
    expectError(await rotate(large, slow), 409, 'key_not_manageable');
    expectError(await rotate(tenant.key, slow), 409, 'key_not_manageable');
    const slower = await make(tenant, { scopes: MANAGER, writes_per_minute: 19 });
    const byDefault = await make(await managerOf());
    expectError(await rotate(slow, slower), 409, 'key_not_manageable');
    expectError(await rotate(byDefault, slower), 404, 'not_found');
    dataOf<KeyRecord>(await rotate(slower, slow), 201);
  });

  it('cannot change limits: keys have no PUT', async () => {
    const { api, key } = await managerOf();
    const answer = await api.put(`${KEYS}/${key.id}`, { reads_per_minute: 60 });
    expectError(answer, 404, 'not_found');
  });
});

describe('an operator', () => {
  let operator: ApiClient;
  let path: string;
  let first: KeyRecord;

  beforeEach(async () => {
    operator = app.client((await app.app.get(OperatorsService).createKey('Sales', null)).key);
    const { id } = dataOf<{ id: string }>(
      await operator.post(ORGANIZATIONS, { name: 'Harbor Roofing' }),
      201,
    );
    path = `${ORGANIZATIONS}/${id}/keys`;
    const body = { name: 'First', reads_per_minute: 40 };
    first = dataOf<KeyRecord>(await operator.post(path, body), 201);
  });

  it('gives a first key limits, and changes them', async () => {
    const api = app.client(first.key);
    expect(await shownTo(api)).toEqual({ ...DEFAULTS, reads_per_minute: 40 });
    const { key: _, ...shown } = first;
    const list = await operator.get(path);
    expect(list).toMatchObject({ status: 200, body: { meta: { total: 1 } } });
    expect(list.body.data).toMatchObject([{ id: first.id, reads_per_minute: 40 }]);
    expect(JSON.stringify(list.body)).not.toContain(first.key);
    const limits = { reads_per_minute: null, writes_per_minute: 80 };
    const changed = await operator.put(`${path}/${first.id}`, limits);
    expect(dataOf(changed)).toMatchObject({ ...shown, ...limits, last_used_at: expect.anything() });
    forgetCachedKeys();
    expect(await shownTo(api)).toEqual({ ...DEFAULTS, writes_per_minute: 80 });
    const headers = { 'If-Match': '"old"' };
    const stale = await operator.put(`${path}/${first.id}`, DEFAULTS, { headers });
    expectError(stale, 412, 'precondition_failed');
  });

  it('is refused wrong limits and fields, and keys of others', async () => {
    const put = (body: object, id = first.id, by = operator) => by.put(`${path}/${id}`, body);
    expectInvalid(await put({ reads_per_minute: 91 }), 'reads_per_minute');
    expectInvalid(await put({ writes_per_minute: 0 }), 'writes_per_minute');
    expectInvalid(await put({ name: 'Mine' }), 'name');
    const again = await operator.post(path, { name: 'First', reads_per_minute: 91 });
    expectInvalid(again, 'reads_per_minute');
    const { key } = await app.organization();
    expectError(await put(DEFAULTS, key.id), 404, 'not_found');
    const other = app.client((await app.app.get(OperatorsService).createKey('Other', null)).key);
    expectError(await put(DEFAULTS, first.id, other), 404, 'not_found');
    expectError(await other.get(path), 404, 'not_found');
    const tenant = await managerOf();
    expectError(await put(DEFAULTS, first.id, tenant.api), 403, 'insufficient_scope');
  });
});
