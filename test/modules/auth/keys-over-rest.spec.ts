import { randomUUID } from 'node:crypto';
import type { Scope } from '../../../src/platform/access/scopes.js';
import type { Answer } from '../../../src/testing/api-client.js';
import { dataOf, errorOf, expectError, expectInvalid } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { forgetCachedKeys } from '../../support/cached-keys.js';
import { until } from '../../support/servers/product.js';

const KEYS = '/api/v1/keys';
const ME = '/api/v1/me';
const HOUR_MS = 3_600_000;

interface KeyRecord {
  readonly id: string;
  readonly key?: string;
  readonly scopes: readonly string[];
  readonly ends_with: readonly string[];
  readonly expires_at: string | null;
  readonly successor_id: string | null;
  readonly revoked_at: string | null;
  readonly last_used_at: string | null;
}

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  tenant = await app.organization({ scopes: app.scopes.every });
});
afterEach(() => {
  jest.restoreAllMocks();
});
afterAll(() => app.stop());

const post = ({ api }: Pick<Tenant, 'api'>, body: object, headers = {}): Promise<Answer> =>
  api.post(KEYS, { name: 'child', scopes: ['leads:read'], ...body }, { headers });

/** Makes a key with the key of a tenant. */
async function make(maker: Pick<Tenant, 'api'>, body: object = {}): Promise<KeyRecord> {
  return dataOf<KeyRecord>(await post(maker, body), 201);
}

const rotate = ({ api }: Pick<Tenant, 'api'>, id: string, body: object = {}): Promise<Answer> =>
  api.post(`${KEYS}/${id}/rotate`, body);

const revoke = ({ api }: Pick<Tenant, 'api'>, id: string): Promise<Answer> =>
  api.delete(`${KEYS}/${id}`);

const stateOf = async (id: string): Promise<KeyRecord> =>
  dataOf<KeyRecord>(await tenant.api.get(`${KEYS}/${id}`));

const clientOf = ({ key = '' }: KeyRecord) => ({ api: app.client(key) });

/** A key of the organization that manages keys. */
const manager = (scopes: readonly Scope[] = ['leads:read'], options = {}): Promise<Tenant> =>
  app.key(tenant.id, [...scopes, 'keys:read', 'keys:write'], options);

describe('POST /api/v1/keys', () => {
  it('returns the key with its secret, which works and which no other response has', async () => {
    const { key, ...created } = await make(tenant, { name: 'n8n' });
    expect(key).toMatch(/^lat_[0-9A-Za-z]{36}$/);
    expect(created).toEqual({
      id: expect.any(String),
      name: 'n8n',
      key_start: key!.slice(0, 8),
      confirmations: 'never',
      reads_per_minute: null,
      writes_per_minute: null,
      scopes: ['leads:read'],
      user_id: null,
      ends_with: [tenant.key.id],
      successor_id: null,
      expires_at: null,
      last_used_at: null,
      revoked_at: null,
      created_at: expect.any(String),
    });
    expect(dataOf(await tenant.api.get(`${KEYS}/${created.id}`))).toEqual(created);
    const list = await tenant.api.get(`${KEYS}?sort_dir=asc`);
    expect(list.body.meta).toEqual({ page: 1, limit: 50, total: 2, total_pages: 1 });
    expect(list.body.data).toMatchObject([{ id: tenant.key.id }, created]);
    expect(JSON.stringify(list.body)).not.toContain(key);
    expect(await app.client(key).get('/api/v1/leads')).toMatchObject({ status: 200 });
    expectError(await app.client(key).get('/api/v1/tasks'), 403, 'insufficient_scope');
  });

  it('stores no secret: a replay answers the same without it', async () => {
    const once = { 'Idempotency-Key': 'once' };
    const { key, ...created } = dataOf<KeyRecord>(await post(tenant, {}, once), 201);
    const replay = await post(tenant, {}, once);
    expect(dataOf<object>(replay, 201)).toEqual(created);
    expect(replay.headers.get('idempotency-replayed')).toBe('true');
    expect(replay.headers.get('location')).toBe(`${KEYS}/${created.id}`);
    const stored = await app.sql<{ body: string }>(
      'select body from idempotency_keys where organization_id = $1',
      [tenant.id],
    );
    expect(stored).toHaveLength(1);
    expect(JSON.stringify(stored)).not.toContain(key);
  });

  it.each([
    ['name', { name: '' }],
    ['name', { name: 'x'.repeat(201) }],
    ['scopes', { scopes: [] }],
    ['scopes', { scopes: ['all'] }],
    ['scopes', { scopes: ['leads:read', 'leads:fly'] }],
    ['scopes', { scopes: 'leads:read' }],
    ['expires_at', { expires_at: '2020-01-01T00:00:00Z' }],
    ['user_id', { user_id: 'me' }],
    ['organization_id', { organization_id: randomUUID() }],
    ['ends_with', { ends_with: [] }],
    ['key', { key: 'lat_mine' }],
  ])('refuses a wrong %s: %j', async (field, body) => {
    expectInvalid(await post(tenant, body), field);
  });

  it('refuses scopes that the key of the request lacks', async () => {
    const maker = await manager();
    for (const scope of ['leads:write', 'tasks:read', 'webhooks:write']) {
      const answer = await post(maker, { scopes: ['leads:read', scope] });
      expectError(answer, 403, 'insufficient_scope');
      expect(errorOf(answer).message).toContain(scope);
    }
    expect(await make(maker, { scopes: ['keys:write', 'leads:read'] })).toMatchObject({
      scopes: ['keys:write', 'leads:read'],
    });
  });

  it('needs keys:write, which keys:read does not include', async () => {
    const reader = await app.key(tenant.id, ['leads:read', 'keys:read']);
    expectError(await post(reader, {}), 403, 'insufficient_scope');
    expectError(await rotate(reader, reader.key.id), 403, 'insufficient_scope');
    expectError(await revoke(reader, reader.key.id), 403, 'insufficient_scope');
    const writer = await app.key(tenant.id, ['leads:read', 'keys:write']);
    expectError(await writer.api.get(KEYS), 403, 'insufficient_scope');
    expectError(await writer.api.get(`${KEYS}/${writer.key.id}`), 403, 'insufficient_scope');
  });

  it('takes the expiry of the key of the request, and refuses a later one', async () => {
    const expiresAt = new Date(Date.now() + HOUR_MS);
    const maker = await manager(['leads:read'], { expiresAt });
    expect(await make(maker)).toMatchObject({ expires_at: expiresAt.toISOString() });
    const earlier = new Date(expiresAt.getTime() - 1).toISOString();
    expect(await make(maker, { expires_at: earlier })).toMatchObject({ expires_at: earlier });
    const later = new Date(expiresAt.getTime() + 1).toISOString();
    expectInvalid(await post(maker, { expires_at: later }), 'expires_at');
  });

  it('takes the user of the key of the request, and refuses another one', async () => {
    const userId = randomUUID();
    const maker = await manager(['leads:read'], { userId });
    expect(await make(maker)).toMatchObject({ user_id: userId });
    expectInvalid(await post(maker, { user_id: randomUUID() }), 'user_id');
    const other = randomUUID();
    expect(await make(tenant, { user_id: other })).toMatchObject({ user_id: other });
  });

  it('refuses more than 100 valid keys, also to requests at the same time', async () => {
    await app.sql(
      `insert into api_keys (id, organization_id, name, key_hash, key_start, scopes)
       select gen_random_uuid(), $1::uuid, 'k', sha256(convert_to($1::uuid::text || number, 'UTF8')), 'lat_', '{}'
       from generate_series(1, 97) number`,
      [tenant.id],
    );
    const answers = await Promise.all([1, 2, 3, 4].map(() => post(tenant, {})));
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).toEqual([201, 201, 409, 409]);
    const created = answers.find(({ status }) => status === 201)!;
    await revoke(tenant, dataOf<KeyRecord>(created, 201).id);
    await make(tenant);
    expectError(await post(tenant, {}), 409, 'too_many_keys');
  });

  it('lets a key be rotated with an overlap if there are 100 valid keys, but not its successor', async () => {
    await app.sql(
      `insert into api_keys (id, organization_id, name, key_hash, key_start, scopes)
       select gen_random_uuid(), $1::uuid, 'k', sha256(convert_to($1::uuid::text || number, 'UTF8')), 'lat_', '{}'
       from generate_series(1, 99) number`,
      [tenant.id],
    );
    const overlap = { overlap_seconds: 60 };
    const next = dataOf<KeyRecord>(await rotate(tenant, tenant.key.id, overlap), 201);
    const successor = { api: app.client(next.key) };
    expectError(await rotate(successor, next.id, overlap), 409, 'too_many_keys');
    dataOf<KeyRecord>(await rotate(successor, next.id, { overlap_seconds: 0 }), 201);
  });
});

describe('a key of another organization', () => {
  it('does not exist: it is neither listed, read, rotated nor revoked', async () => {
    const foreign = await app.organization();
    const { id } = foreign.key;
    expect(JSON.stringify((await tenant.api.get(KEYS)).body)).not.toContain(id);
    expectError(await tenant.api.get(`${KEYS}/${id}`), 404, 'not_found');
    expectError(await rotate(tenant, id), 404, 'not_found');
    expectError(await revoke(tenant, id), 404, 'not_found');
    expect(await foreign.api.get(ME)).toMatchObject({ status: 200 });
    const [row] = await app.sql('select revoked_at, successor_id from api_keys where id = $1', [
      id,
    ]);
    expect(row).toEqual({ revoked_at: null, successor_id: null });
  });
});

describe('a key that holds fewer scopes than another one', () => {
  it('neither rotates nor revokes it', async () => {
    const small = await manager();
    for (const answer of [await rotate(small, tenant.key.id), await revoke(small, tenant.key.id)]) {
      expectError(answer, 403, 'insufficient_scope');
    }
    expect(await stateOf(tenant.key.id)).toMatchObject({ revoked_at: null, successor_id: null });
  });

  it('rotates and revokes those with its own scopes', async () => {
    const small = await manager();
    const [one, two] = [
      await app.key(tenant.id, ['leads:read']),
      await app.key(tenant.id, ['leads:read']),
    ];
    const next = dataOf<KeyRecord>(await rotate(small, one.key.id), 201);
    expect(next.scopes).toEqual(['leads:read']);
    expect(dataOf<object>(await revoke(small, two.key.id))).toEqual({
      id: two.key.id,
      revoked_at: expect.any(String),
    });
    forgetCachedKeys();
    expectError(await two.api.get(ME), 401, 'unauthorized');
    expectError(await one.api.get(ME), 401, 'unauthorized');
    expect(await app.client(next.key).get(ME)).toMatchObject({ status: 200 });
  });
});

/** docs/contract/keys-and-scopes.md#keys-of-a-user */
describe('a key with a user', () => {
  const USER = randomUUID();
  let own: Tenant;

  beforeEach(async () => {
    own = await manager(['leads:read'], { userId: USER });
  });

  it.each([
    ['another user', randomUUID()],
    ['no user', null],
  ])('neither rotates nor revokes a key of %s', async (_, userId) => {
    const { key } = await app.key(tenant.id, ['leads:read'], { userId });
    expectError(await rotate(own, key.id), 409, 'key_not_manageable');
    expectError(await revoke(own, key.id), 409, 'key_not_manageable');
    expect(await stateOf(key.id)).toMatchObject({ revoked_at: null, successor_id: null });
  });

  it('rotates and revokes keys of the same user, also itself', async () => {
    const { key } = await app.key(tenant.id, ['leads:read'], { userId: USER });
    const next = dataOf<KeyRecord>(await rotate(own, key.id), 201);
    expect(next).toMatchObject({ user_id: USER });
    expect(await revoke(own, next.id)).toMatchObject({ status: 200 });
    const successor = dataOf<KeyRecord>(await rotate(own, own.key.id), 201);
    expect(await revoke(clientOf(successor), successor.id)).toMatchObject({ status: 200 });
  });

  it('reads the keys of all users', async () => {
    expect(dataOf(await own.api.get(`${KEYS}/${tenant.key.id}`))).toMatchObject({ user_id: null });
  });

  it('is refused for missing scopes before that', async () => {
    const wide = await app.key(tenant.id, ['leads:write'], { userId: randomUUID() });
    expectError(await rotate(own, wide.key.id), 403, 'insufficient_scope');
  });

  it('is rotated and revoked by a key without a user', async () => {
    const next = dataOf<KeyRecord>(await rotate(tenant, own.key.id), 201);
    expect(next).toMatchObject({ user_id: USER });
    expect(await revoke(tenant, next.id)).toMatchObject({ status: 200 });
  });
});

describe('a key that was made by another one', () => {
  it('ends within a second when its maker is revoked, with those that it has made', async () => {
    const maker = await manager();
    const child = await make(maker, { scopes: ['leads:read', 'keys:write'] });
    const grandchild = await make(clientOf(child));
    expect(await app.client(grandchild.key).get(ME)).toMatchObject({ status: 200 });
    const { revoked_at } = dataOf<KeyRecord>(await revoke(tenant, maker.key.id));
    forgetCachedKeys();
    for (const { key, id } of [child, grandchild]) {
      expectError(await app.client(key).get(ME), 401, 'unauthorized');
      expect(await stateOf(id)).toMatchObject({ revoked_at });
    }
  });

  it('ends with its maker also if a command revokes it', async () => {
    const maker = await manager();
    const child = await make(maker);
    await app.revoke(maker);
    forgetCachedKeys();
    expectError(await app.client(child.key).get(ME), 401, 'unauthorized');
  });

  it('neither rotates nor revokes its maker, even with the same scopes', async () => {
    const maker = await manager();
    const child = clientOf(await make(maker, { scopes: maker.key.scopes }));
    expectError(await rotate(child, maker.key.id), 409, 'key_not_manageable');
    expectError(await revoke(child, maker.key.id), 409, 'key_not_manageable');
    expect(await stateOf(maker.key.id)).toMatchObject({ revoked_at: null, successor_id: null });
  });

  it('is not alive after its maker was revoked at the same time', async () => {
    const rounds = [1, 2, 3, 4, 5].map(async () => {
      const maker = await manager();
      const creations = [1, 2, 3].map(() => post(maker, {}));
      const [revoked, ...made] = await Promise.all([revoke(tenant, maker.key.id), ...creations]);
      expect(revoked.status).toBe(200);
      expect(made.filter(({ status }) => ![201, 401].includes(status))).toEqual([]);
    });
    await Promise.all(rounds);
    const alive = await app.sql(
      `select from api_keys where organization_id = $1 and name = 'child' and revoked_at is null`,
      [tenant.id],
    );
    expect(alive).toEqual([]);
  });
});

describe('POST /api/v1/keys/:id/rotate', () => {
  it('lets a key replace itself, with an overlap', async () => {
    const old = await manager();
    const next = dataOf<KeyRecord>(await rotate(old, old.key.id, { overlap_seconds: 3_600 }), 201);
    expect(next).toMatchObject({ name: 'k', scopes: old.key.scopes, ends_with: [] });
    expect(await app.client(next.key).get(ME)).toMatchObject({ status: 200 });
    const state = await stateOf(old.key.id);
    expect(state).toMatchObject({ successor_id: next.id, revoked_at: null });
    const left = Date.parse(state.expires_at!) - Date.now();
    expect(left).toBeGreaterThan(HOUR_MS - 60_000);
    expect(left).toBeLessThanOrEqual(HOUR_MS);
    expect(await old.api.get(ME)).toMatchObject({ status: 200 });
  });

  it('ends the old key at once without an overlap', async () => {
    const old = await manager();
    const next = dataOf<KeyRecord>(await rotate(old, old.key.id), 201);
    forgetCachedKeys();
    expectError(await old.api.get(ME), 401, 'unauthorized');
    expect(await app.client(next.key).get(ME)).toMatchObject({ status: 200 });
  });

  it('lets the successor inherit the keys that the old one has made', async () => {
    const old = await manager();
    const child = await make(old, { scopes: ['leads:read', 'keys:write'] });
    const grandchild = await make(clientOf(child));
    const next = dataOf<KeyRecord>(await rotate(old, old.key.id), 201);
    forgetCachedKeys();
    expect(await app.client(child.key).get(ME)).toMatchObject({ status: 200 });
    expect(await stateOf(child.id)).toMatchObject({ ends_with: [next.id] });
    expect((await stateOf(grandchild.id)).ends_with.toSorted()).toEqual(
      [next.id, child.id].toSorted(),
    );
    await revoke(tenant, next.id);
    forgetCachedKeys();
    for (const { key } of [next, child, grandchild]) {
      expectError(await app.client(key).get(ME), 401, 'unauthorized');
    }
  });

  it('lets the successor of a key end with its maker', async () => {
    const expiresAt = new Date(Date.now() + HOUR_MS);
    const maker = await manager(['leads:read'], { expiresAt });
    const child = await make(maker, { scopes: ['leads:read', 'keys:write'] });
    const next = dataOf<KeyRecord>(await rotate(clientOf(child), child.id), 201);
    expect(next).toMatchObject({
      ends_with: [maker.key.id],
      expires_at: expiresAt.toISOString(),
    });
    await revoke(tenant, maker.key.id);
    forgetCachedKeys();
    expectError(await app.client(next.key).get(ME), 401, 'unauthorized');
  });

  it('lets the successor end with the key that has rotated it', async () => {
    const other = await app.key(tenant.id, ['leads:read']);
    const rotator = await manager();
    const next = dataOf<KeyRecord>(await rotate(rotator, other.key.id), 201);
    expect(next.ends_with).toEqual([rotator.key.id]);
    await revoke(tenant, rotator.key.id);
    forgetCachedKeys();
    expectError(await app.client(next.key).get(ME), 401, 'unauthorized');
  });

  it('refuses a key that expires later than the key of the request', async () => {
    const expiresAt = new Date(Date.now() + HOUR_MS);
    const rotator = await manager(['leads:read'], { expiresAt });
    const forever = await app.key(tenant.id, ['leads:read']);
    expectError(await rotate(rotator, forever.key.id), 409, 'key_not_manageable');
    expect(await stateOf(forever.key.id)).toMatchObject({ expires_at: null, successor_id: null });
  });

  it('keeps the lifetime that the first key was made with, also if its maker has shortened a successor', async () => {
    const LIFETIME_MS = 100 * HOUR_MS;
    const maker = await manager(['leads:read'], { expiresAt: new Date(Date.now() + LIFETIME_MS) });
    const scopes = ['leads:read', 'keys:write'];
    const child = await make(maker, { scopes });
    await app.sql(`update api_keys set expires_at = now() + interval '1 hour' where id = $1`, [
      maker.key.id,
    ]);
    const shortened = dataOf<KeyRecord>(await rotate(clientOf(child), child.id), 201);
    expect(Date.parse(shortened.expires_at!)).toBeLessThan(Date.now() + 2 * HOUR_MS);
    await app.sql('update api_keys set expires_at = null where id = $1', [maker.key.id]);
    const next = dataOf<KeyRecord>(await rotate(clientOf(shortened), shortened.id), 201);
    const end = Date.parse(next.expires_at!);
    expect(end).toBeGreaterThan(Date.now() + LIFETIME_MS - HOUR_MS);
    expect(end).toBeLessThanOrEqual(Date.now() + LIFETIME_MS);
  });

  it('refuses a key that was rotated, so that an overlap extends nothing', async () => {
    const old = await manager();
    await rotate(old, old.key.id, { overlap_seconds: 3_600 });
    const again = await rotate(old, old.key.id, { overlap_seconds: 3_600 });
    expectError(again, 409, 'key_not_manageable');
  });

  it('makes one successor of requests at the same time', async () => {
    const { id } = (await app.key(tenant.id, ['leads:read'])).key;
    const answers = await Promise.all([1, 2, 3, 4].map(() => rotate(tenant, id)));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 404, 404, 404]);
  });

  it.each([
    ['overlap_seconds', { overlap_seconds: -1 }],
    ['overlap_seconds', { overlap_seconds: 30 * 86_400 + 1 }],
    ['overlap_seconds', { overlap_seconds: '1h' }],
    ['scopes', { scopes: ['leads:read'] }],
  ])('refuses a wrong %s: %j', async (field, body) => {
    expectInvalid(await rotate(tenant, tenant.key.id, body), field);
  });

  it('answers 404 for a key that has ended or does not exist', async () => {
    const revoked = await app.key(tenant.id, ['leads:read']);
    await app.revoke(revoked);
    const expired = await app.key(tenant.id, ['leads:read'], { expiresAt: new Date() });
    for (const id of [revoked.key.id, expired.key.id, randomUUID(), 'none']) {
      expectError(await rotate(tenant, id), 404, 'not_found');
    }
  });
});

describe('DELETE /api/v1/keys/:id', () => {
  it('lets a key revoke itself', async () => {
    const own = await manager();
    expect(await revoke(own, own.key.id)).toMatchObject({ status: 200 });
    forgetCachedKeys();
    expectError(await own.api.get(ME), 401, 'unauthorized');
  });

  it('keeps the time of the first revocation', async () => {
    const { id } = await make(tenant);
    const first = dataOf<KeyRecord>(await revoke(tenant, id));
    expect(dataOf<KeyRecord>(await revoke(tenant, id))).toEqual(first);
  });

  it('revokes only the version that If-Match names', async () => {
    const { id } = await make(tenant);
    const { headers } = await tenant.api.get(`${KEYS}/${id}`);
    const path = `${KEYS}/${id}`;
    const other = await tenant.api.delete(path, { headers: { 'If-Match': '"other"' } });
    expectError(other, 412, 'precondition_failed');
    expect(await stateOf(id)).toMatchObject({ revoked_at: null });
    const same = { headers: { 'If-Match': headers.get('etag')! } };
    expect(await tenant.api.delete(path, same)).toMatchObject({ status: 200 });
  });

  it('is refused to a revoked key that is still cached', async () => {
    const maker = await manager();
    expect(await maker.api.get(ME)).toMatchObject({ status: 200 });
    await app.sql('update api_keys set revoked_at = now() where id = $1', [maker.key.id]);
    jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    expectError(await post(maker, {}), 401, 'unauthorized');
    expectError(await revoke(maker, maker.key.id), 401, 'unauthorized');
  });
});

it('the last use of a key is shown', async () => {
  const child = await make(tenant);
  await app.client(child.key).get(ME);
  await until(async () => (await stateOf(child.id)).last_used_at !== null);
});

it('changes of keys are events for keys:read, without the secret', async () => {
  const child = await make(tenant);
  const next = dataOf<KeyRecord>(await rotate(tenant, child.id, { overlap_seconds: 60 }), 201);
  await revoke(tenant, next.id);
  const types = 'key.created,key.rotated,key.revoked';
  const read = async ({ api }: Pick<Tenant, 'api'>) =>
    (await api.get(`/api/v1/events?types=${types}`)).body.data as Record<string, unknown>[];
  await until(async () => (await read(tenant)).length === 5);
  const events = await read(tenant);
  const actor = { key_id: tenant.key.id, channel: 'api', request_id: expect.any(String) as string };
  expect(events).toMatchObject([
    // The key of the tenant was made by no request.
    { type: 'key.created', actor: { key_id: null } },
    { type: 'key.created', record: { id: child.id }, changed: [], actor },
    { type: 'key.created', record: { id: next.id }, actor },
    {
      type: 'key.rotated',
      record: { id: child.id, successor_id: next.id },
      changed: ['expires_at', 'successor_id'],
      actor,
    },
    { type: 'key.revoked', record: { id: next.id }, changed: ['revoked_at'], actor },
  ]);
  const text = JSON.stringify(events);
  for (const { key } of [child, next]) expect(text).not.toContain(key);
  const reader = await app.key(tenant.id, ['events:read', 'leads:read']);
  expect(await read(reader)).toEqual([]);
});
