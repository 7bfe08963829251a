import { randomUUID } from 'node:crypto';
import {
  type IssuedOperatorKey,
  OperatorsService,
} from '../../../src/modules/auth/operators.service.js';
import { SystemDatabase } from '../../../src/platform/data/gateway/system-database.js';
import type { ApiClient } from '../../../src/testing/api-client.js';
import { urlOf } from '../../../src/testing/databases.js';
import {
  createLead,
  dataOf,
  errorOf,
  expectError,
  expectInvalid,
  LEADS,
} from '../../../src/testing/factories.js';
import { rpcRequest } from '../../../src/testing/mcp-client.js';
import { ALL_ROUTES, routeName, send, validRequest } from '../../../src/testing/routes.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { forgetCachedKeys } from '../../support/cached-keys.js';
import { latitude, runCommand } from '../../support/command-line.js';
import { until } from '../../support/servers/product.js';

const ORGANIZATIONS = '/api/v1/organizations';
const ME = '/api/v1/me';

interface OrganizationRecord {
  readonly id: string;
  readonly name: string;
  readonly has_had_key: boolean;
}

interface KeyRecord {
  readonly id: string;
  readonly key: string;
  readonly scopes: readonly string[];
}

let app: TestApp;
let tenant: Tenant;
let operators: OperatorsService;
let operator: ApiClient;

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization({ scopes: app.scopes.every });
  operators = app.app.get(OperatorsService);
});
beforeEach(async () => {
  operator = app.client((await operators.createKey('Onboarding', null)).key);
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => app.stop());

async function createOrganization(by = operator, name = 'Harbor Roofing') {
  return dataOf<OrganizationRecord>(await by.post(ORGANIZATIONS, { name }), 201);
}

const firstKey = (id: string, body: object = {}, by = operator, headers = {}) =>
  by.post(`${ORGANIZATIONS}/${id}/keys`, { name: 'First', ...body }, { headers });

describe('an operator key', () => {
  it('creates organizations and lists those that it has created', async () => {
    const one = await createOrganization();
    const two = dataOf<object>(
      await operator.post(ORGANIZATIONS, {
        name: 'Zwei',
        phone_region: 'de',
        time_zone: 'europe/berlin',
      }),
      201,
    );
    expect(one).toEqual({
      id: expect.any(String),
      name: 'Harbor Roofing',
      phone_region: 'US',
      time_zone: 'UTC',
      unknown_fields: 'allow',
      suspended: false,
      has_had_key: false,
      created_at: expect.any(String),
    });
    expect(two).toMatchObject({ name: 'Zwei', phone_region: 'DE', time_zone: 'Europe/Berlin' });
    const { body } = await operator.get(`${ORGANIZATIONS}?sort_dir=asc`);
    expect(body).toEqual({
      data: [one, two],
      meta: { page: 1, limit: 50, total: 2, total_pages: 1 },
    });
    expect(dataOf(await operator.get(`${ORGANIZATIONS}/${one.id}`))).toEqual(one);
  });

  it('creates the first key of an organization, which is an ordinary key of it', async () => {
    const { id } = await createOrganization();
    const { key, scopes, ...first } = dataOf<KeyRecord>(await firstKey(id), 201);
    expect(first).toMatchObject({ name: 'First', ends_with: [], expires_at: null });
    expect(scopes).toContain('leads:write');
    expect(scopes.filter((scope) => /^keys:|:erase$/.test(scope))).toEqual([]);
    const lead = await createLead(app.client(key));
    expectError(await tenant.api.get(`${LEADS}/${lead.id}`), 404, 'not_found');
    expect(dataOf(await operator.get(`${ORGANIZATIONS}/${id}`))).toMatchObject({
      has_had_key: true,
    });
    const events = `/api/v1/events?types=key.created`;
    const manager = await app.key(id, ['events:read', 'keys:read']);
    await until(async () => {
      const { data } = (await manager.api.get(events)).body as { data: object[] };
      return JSON.stringify(data).includes(first.id);
    });
  });

  it('creates a first key with fewer scopes, an expiry and a user', async () => {
    const { id } = await createOrganization();
    const user_id = randomUUID();
    const expires_at = new Date(Date.now() + 60_000).toISOString();
    const body = { scopes: ['tasks:read', 'leads:read'], expires_at, user_id };
    expect(dataOf<object>(await firstKey(id, body), 201)).toMatchObject({
      ...body,
      scopes: ['leads:read', 'tasks:read'],
    });
  });

  it('stores no secret: a replay answers the same without it, and an organization is created once', async () => {
    const headers = { 'Idempotency-Key': 'once' };
    const create = () => operator.post(ORGANIZATIONS, { name: 'Once' }, { headers });
    const { id } = dataOf<OrganizationRecord>(await create(), 201);
    const again = await create();
    expect(dataOf(again, 201)).toMatchObject({ id });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expectError(
      await operator.post(ORGANIZATIONS, { name: 'Other' }, { headers }),
      422,
      'idempotency_key_reused',
    );
    const { key, ...first } = dataOf<KeyRecord>(await firstKey(id, {}, operator, headers), 201);
    expect(dataOf<object>(await firstKey(id, {}, operator, headers), 201)).toEqual(first);
    const stored = await app.sql('select body from operator_responses');
    expect(JSON.stringify(stored)).not.toContain(key);
    const other = app.client((await operators.createKey('Other', null)).key);
    const { id: foreign } = dataOf<OrganizationRecord>(
      await other.post(ORGANIZATIONS, { name: 'Once' }, { headers }),
      201,
    );
    expect(foreign).not.toBe(id);
  });

  it.each([
    ['name', { name: ' ' }],
    ['name', {}],
    ['phone_region', { name: 'N', phone_region: 'XX' }],
    ['time_zone', { name: 'N', time_zone: 'Mars/Base' }],
    ['id', { name: 'N', id: randomUUID() }],
    ['operator_id', { name: 'N', operator_id: randomUUID() }],
  ])('is refused a wrong %s of an organization: %j', async (field, body) => {
    expectInvalid(await operator.post(ORGANIZATIONS, body), field);
  });

  it.each([
    ['scopes', { scopes: ['leads:read', 'keys:write'] }],
    ['scopes', { scopes: [] }],
    ['expires_at', { expires_at: '2020-01-01T00:00:00Z' }],
    ['name', { name: '' }],
  ])('is refused a wrong %s of a first key: %j', async (field, body) => {
    const { id } = await createOrganization();
    expectInvalid(await firstKey(id, body), field);
    expect(dataOf(await operator.get(`${ORGANIZATIONS}/${id}`))).toMatchObject({
      has_had_key: false,
    });
  });
});

describe('the secret of a new operator key', () => {
  it('is not sent to PostgreSQL, which can log the parameters of statements', async () => {
    const write = jest.spyOn(app.app.get(SystemDatabase), 'write');
    const { id, key } = await operators.createKey('Onboarding', null);
    const rotated = await operators.rotateKey(id, 0);
    const sent = JSON.stringify(write.mock.calls);
    expect(sent).toContain(rotated.id);
    expect([key, rotated.key].filter((secret) => sent.includes(secret))).toEqual([]);
  });
});

describe('a first key', () => {
  it('is created once, also for requests at the same time', async () => {
    const { id } = await createOrganization();
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => firstKey(id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409]);
    expectError(await firstKey(id), 409, 'first_key_exists');
    const keys = await app.sql('select from api_keys where organization_id = $1', [id]);
    expect(keys).toHaveLength(1);
  });

  it('is refused after the first one was revoked or has expired', async () => {
    const [one, two] = [await createOrganization(), await createOrganization()];
    for (const { id } of [one, two]) dataOf<KeyRecord>(await firstKey(id), 201);
    await app.sql('update api_keys set revoked_at = now() where organization_id = $1', [one.id]);
    await app.sql('update api_keys set expires_at = now() where organization_id = $1', [two.id]);
    for (const { id } of [one, two]) expectError(await firstKey(id), 409, 'first_key_exists');
  });

  it('is refused if a command has created a key', async () => {
    const { id } = await createOrganization();
    await app.key(id, ['leads:read']);
    expectError(await firstKey(id), 409, 'first_key_exists');
  });

  it('is refused for an organization of another operator or of a command', async () => {
    const other = app.client((await operators.createKey('Other', null)).key);
    const foreign = await createOrganization(other);
    const { id: ofCommand } = await app.organization();
    for (const id of [foreign.id, ofCommand, tenant.id, randomUUID(), 'none']) {
      expectError(await firstKey(id), 404, 'not_found');
      expectError(await operator.get(`${ORGANIZATIONS}/${id}`), 404, 'not_found');
    }
    expect((await operator.get(ORGANIZATIONS)).body).toMatchObject({ data: [] });
    expect(dataOf(await other.get(`${ORGANIZATIONS}/${foreign.id}`))).toMatchObject({
      has_had_key: false,
    });
  });
});

describe('an operator key everywhere else', () => {
  const elsewhere = ALL_ROUTES.filter(({ pattern }) => pattern !== '/api/v1/audit');

  it.each(elsewhere.map((route) => [routeName(route), route] as const))(
    'is refused with a clear error: %s',
    async (_, route) => {
      const answer = await send(operator, route, await validRequest(route, tenant));
      expectError(answer, 403, 'insufficient_scope');
      expect(errorOf(answer).message).toBe(
        'This is an operator key, which is accepted at /api/v1/organizations and /api/v1/audit only.',
      );
    },
  );

  it.each([
    '/api/v1/organization',
    '/api/v1/unknown',
    '/mcp',
    `/api/v1/organizations/${randomUUID()}/leads`,
  ])('is refused with a clear error: GET %s', async (path) => {
    const answer = await operator.get(path);
    expectError(answer, 403, 'insufficient_scope');
    expect(errorOf(answer).message).toContain('operator key');
  });

  it('is refused by /mcp with a clear error', async () => {
    const headers = { Accept: 'application/json, text/event-stream' };
    for (const message of [rpcRequest('initialize'), rpcRequest('tools/list')]) {
      const answer = await operator.post('/mcp', message, { headers });
      expectError(answer, 403, 'insufficient_scope');
    }
  });
});

describe('the routes of operators', () => {
  it('refuse API keys, also with all scopes, and requests without a key', async () => {
    const { id } = await createOrganization();
    const requests = [
      (api: ApiClient) => api.get(ORGANIZATIONS),
      (api: ApiClient) => api.get(`${ORGANIZATIONS}/${id}`),
      (api: ApiClient) => api.post(ORGANIZATIONS, { name: 'Mine' }),
      (api: ApiClient) => firstKey(id, {}, api),
    ];
    for (const request of requests) {
      const refused = await request(tenant.api);
      expectError(refused, 403, 'insufficient_scope');
      expect(errorOf(refused).message).toContain('needs an operator key');
      expectError(await request(app.client()), 401, 'unauthorized');
    }
  });

  it('count requests against the limits of the operator key', async () => {
    const limited = await TestApp.start({ settings: { writesPerMinute: 1 } });
    const { key } = await limited.app.get(OperatorsService).createKey('Fast', null);
    const api = limited.client(key);
    expect(await api.post(ORGANIZATIONS, { name: 'One' })).toMatchObject({ status: 201 });
    expectError(await api.post(ORGANIZATIONS, { name: 'Two' }), 429, 'rate_limit_exceeded');
    await limited.stop();
  });
});

describe('the end of an operator key', () => {
  it('follows its revocation within a second, and its expiry', async () => {
    const issued = await operators.createKey('Short', new Date(Date.now() + 60_000));
    const api = app.client(issued.key);
    expect(await api.get(ORGANIZATIONS)).toMatchObject({ status: 200 });
    await operators.revokeKey(issued.id);
    forgetCachedKeys();
    expectError(await api.get(ORGANIZATIONS), 401, 'unauthorized');
    const expired = await operators.createKey('Expired', new Date());
    expectError(await app.client(expired.key).get(ORGANIZATIONS), 401, 'unauthorized');
  });

  it('leaves the first keys that it has created', async () => {
    const issued = await operators.createKey('Short', null);
    const { id } = await createOrganization(app.client(issued.key));
    const { key } = dataOf<KeyRecord>(await firstKey(id, {}, app.client(issued.key)), 201);
    await operators.revokeKey(issued.id);
    forgetCachedKeys();
    expect(await app.client(key).get(ME)).toMatchObject({ status: 200 });
  });
});

describe('latitude operators', () => {
  const environment = () => ({ DATABASE_URL: urlOf(app.database) });

  it('creates, lists, rotates and revokes keys of operators', async () => {
    const created = await latitude<IssuedOperatorKey>(
      environment(),
      ...['operators', 'create', '--name', 'Partner', '--expires-in', '90d'],
    );
    expect(created).toEqual({
      ...{ id: expect.any(String), operator_id: created.id, name: 'Partner' },
      ...{ expires_at: expect.any(String), key: expect.stringMatching(/^lat_op_\w{36}$/) },
    });
    const { id } = await createOrganization(app.client(created.key));
    const rotate = ['operators', 'rotate', created.id, '--overlap', '1h'];
    const next = await latitude<IssuedOperatorKey>(environment(), ...rotate);
    expect(next).toMatchObject({ operator_id: created.id, replaces: created.id });
    for (const { key } of [created, next]) {
      expect(dataOf(await app.client(key).get(`${ORGANIZATIONS}/${id}`))).toMatchObject({ id });
    }
    const revoked = await latitude(environment(), 'operators', 'revoke', next.id);
    expect(revoked).toEqual({ id: next.id, revoked_at: expect.any(String) });
    const keys = await latitude<object[]>(environment(), 'operators', 'list');
    expect(keys).toContainEqual(
      expect.objectContaining({
        ...{ id: next.id, operator_id: created.id, name: 'Partner' },
        ...{ key_start: next.key.slice(0, 11), revoked_at: expect.any(String) },
      }),
    );
    expect(JSON.stringify(keys)).not.toContain(next.key);
  });

  it('keeps the lifetime when a rotation is repeated within the overlap', async () => {
    const NINETY_DAYS_MS = 90 * 86_400_000;
    const expiresAt = new Date(Date.now() + NINETY_DAYS_MS);
    const { id } = await operators.createKey('Repeated', expiresAt);
    await operators.rotateKey(id, 3_600_000);
    const again = await operators.rotateKey(id, 60_000);
    const ofAgain = await operators.rotateKey(again.id, 60_000);
    for (const { expires_at } of [again, ofAgain]) {
      expect(expires_at!.getTime() - Date.now()).toBeGreaterThan(NINETY_DAYS_MS - 60_000);
    }
    const forever = await operators.createKey('Forever', null);
    await operators.rotateKey(forever.id, 3_600_000);
    expect((await operators.rotateKey(forever.id, 0)).expires_at).toBeNull();
  });

  it('refuses to rotate a key that has ended or does not exist', async () => {
    const { id } = await operators.createKey('Gone', null);
    await operators.revokeKey(id);
    for (const one of [id, randomUUID()]) {
      const { code, stderr } = await runCommand(['operators', 'rotate', one], environment());
      expect({ code, stderr }).toMatchObject({ code: 1, stderr: expect.stringMatching(/key/) });
    }
  });

  it('is the only way: keys create and the API know no operator keys', async () => {
    const scopes = ['keys', 'create', '--organization', tenant.id, '--name', 'n', '--scopes'];
    const { code } = await runCommand([...scopes, 'operator'], environment());
    expect(code).toBe(1);
  });
});
