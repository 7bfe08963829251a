import { createHash, randomUUID } from 'node:crypto';
import { CredentialStore } from '../../../src/platform/access/credential-store.js';
import { KeysService, type NewKey } from '../../../src/modules/auth/keys.service.js';
import { SCOPES } from '../../../src/platform/access/scopes.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { until } from '../../support/servers/product.js';

const ME = '/api/v1/me';

let app: TestApp;
let tenant: Tenant;
let keys: KeysService;

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
  keys = app.app.get(KeysService);
});
afterAll(() => app.stop());

/** The call of a command in the organization of the tests. */
const maintenance = () => ({ tenant: { id: tenant.id } });

describe('a key is rejected within 1 second on every instance', () => {
  const HOUR_MS = 3_600_000;
  let other: TestApp;

  beforeAll(async () => {
    other = await TestApp.start({ database: app.database });
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  afterAll(() => other.stop());

  it('after revocation and after rotation without overlap', async () => {
    const revoked = await app.key(tenant.id);
    const rotated = await app.key(tenant.id, ['leads:read']);
    await Promise.all([revoked, rotated].map(takenByBoth));
    await keys.revoke(maintenance(), revoked.key.id);
    const next = await keys.rotate(maintenance(), rotated.key.id, 0);
    const later = performance.now() + 1_000;
    jest.spyOn(performance, 'now').mockReturnValue(later);
    await Promise.all([revoked, rotated].map(refusedByBoth));
    expect(await other.client(next.key).get(ME)).toMatchObject({
      status: 200,
      body: { data: { scopes: ['leads:read'] } },
    });
  });

  it('at its expiry, even if it is cached', async () => {
    const expiresAt = new Date(Date.now() + HOUR_MS);
    const expiring = await app.key(tenant.id, SCOPES, { expiresAt });
    setTime(expiresAt.getTime() - 1);
    await takenByBoth(expiring);
    setTime(expiresAt.getTime());
    await refusedByBoth(expiring);
  });

  it('after the overlap of a rotation, during which both keys are accepted', async () => {
    const old = await app.key(tenant.id, ['leads:read']);
    await takenByBoth(old);
    const before = Date.now();
    const next = await keys.rotate(maintenance(), old.key.id, HOUR_MS);
    const after = Date.now();
    const end = next.old_expires_at!.getTime();
    expect(end).toBeGreaterThanOrEqual(before + HOUR_MS);
    expect(end).toBeLessThanOrEqual(after + HOUR_MS);
    // Moves the monotonic clock past the lifetime of the cached keys.
    const late = performance.now() + 2_000;
    jest.spyOn(performance, 'now').mockReturnValue(late);
    setTime(end - 1);
    await takenByBoth(old);
    await takenByBoth({ key: next });
    setTime(end);
    await refusedByBoth(old);
    await takenByBoth({ key: next });
  });

  it('while other keys of the organization are still accepted', async () => {
    const [one, two] = await Promise.all([app.key(tenant.id), app.key(tenant.id)]);
    await keys.revoke(maintenance(), one.key.id);
    expect(await two.api.get(ME)).toMatchObject({ status: 200 });
  });

  /** Expects both instances to accept the key, which they cache. */
  async function takenByBoth({ key }: Pick<Tenant, 'key'>): Promise<void> {
    for (const instance of [app, other]) {
      expect(await instance.client(key.key).get(ME)).toMatchObject({ status: 200 });
    }
  }

  async function refusedByBoth({ key }: Pick<Tenant, 'key'>): Promise<void> {
    for (const instance of [app, other]) {
      expect(await instance.client(key.key).get(ME)).toMatchObject({ status: 401 });
    }
  }

  /** Sets and stops the clock. */
  function setTime(time: number): void {
    jest.spyOn(Date, 'now').mockReturnValue(time);
  }
});

describe('rotation', () => {
  const HOUR_MS = 3_600_000;

  /** Makes a key like one of an earlier release, which stored no lifetime. */
  const setLifetime = (id: string, ms: number | null) =>
    app.sql(
      `update api_keys set expires_at = created_at + $2 * interval '1 ms', lifetime_ms = null
       where id = $1`,
      [id, ms],
    );

  /** The time from the creation of a key to its expiry. */
  async function lifetimeOf(id: string): Promise<number | null> {
    const text = `select (extract(epoch from expires_at - created_at) * 1000)::float8 as ms
      from api_keys where id = $1`;
    return (await app.sql<{ ms: number | null }>(text, [id]))[0]!.ms;
  }

  const NINETY_DAYS_MS = 90 * 24 * HOUR_MS;
  /** Creation and expiry are read from two clocks. */
  const TOLERANCE_MS = 60_000;

  it.each([
    ['stored', (id: string) => Promise.resolve(id)],
    ['that of a key of an earlier release', (id: string) => setLifetime(id, NINETY_DAYS_MS)],
  ])('keeps the lifetime when it is repeated within the overlap: %s', async (_, prepare) => {
    const expiresAt = new Date(Date.now() + NINETY_DAYS_MS);
    const { key: first } = await app.key(tenant.id, ['leads:read'], { expiresAt });
    await prepare(first.id);
    const second = await keys.rotate(maintenance(), first.id, 24 * HOUR_MS);
    const third = await keys.rotate(maintenance(), first.id, HOUR_MS);
    const ofThird = await keys.rotate(maintenance(), third.id, HOUR_MS);
    for (const { id } of [second, ofThird]) {
      const lost = NINETY_DAYS_MS - ((await lifetimeOf(id)) ?? 0);
      expect(Math.abs(lost)).toBeLessThan(TOLERANCE_MS);
    }
  });

  it.each([
    ['stored', (id: string) => Promise.resolve(id)],
    ['that of a key of an earlier release', (id: string) => setLifetime(id, null)],
  ])('keeps a key without an expiry so: %s', async (_, prepare) => {
    const { key: first } = await app.key(tenant.id, ['leads:read']);
    await prepare(first.id);
    await keys.rotate(maintenance(), first.id, HOUR_MS);
    const third = await keys.rotate(maintenance(), first.id, HOUR_MS);
    expect(third.expires_at).toBeNull();
    const fourth = await keys.rotate(maintenance(), third.id, HOUR_MS);
    expect(fourth.expires_at).toBeNull();
  });

  it('copies the name, scopes, user and lifetime of the old key', async () => {
    const life = 90_000;
    const userId = randomUUID();
    const { key: old } = await app.key(tenant.id, ['tasks:read'], {
      ...{ name: 'n8n', userId },
    });
    await setLifetime(old.id, life);
    const before = Date.now();
    const { key, ...next } = await keys.rotate(maintenance(), old.id, 1_000);
    const after = Date.now();
    expect(next).toEqual({
      ...{ id: expect.any(String), organization_id: tenant.id, replaces: old.id },
      ...{ name: 'n8n', scopes: ['tasks:read'] },
      ...{ expires_at: expect.any(Date), old_expires_at: expect.any(Date) },
    });
    expect(key).not.toBe(old.key);
    expect(next.expires_at!.getTime()).toBeGreaterThanOrEqual(before + life);
    expect(next.expires_at!.getTime()).toBeLessThanOrEqual(after + life);
    const [stored] = await app.sql<{ user_id: string }>(
      'select user_id from api_keys where id = $1',
      [next.id],
    );
    expect(stored).toEqual({ user_id: userId });
  });

  it('never extends the life of the old key', async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    const { key } = await app.key(tenant.id, SCOPES, { expiresAt });
    expect((await keys.rotate(maintenance(), key.id, 3_600_000)).old_expires_at).toEqual(expiresAt);
  });

  it.each([
    ['does not exist', () => Promise.resolve(randomUUID()), 'There is no such key.'],
    [
      'has expired',
      () => ended({ expiresAt: new Date(Date.now() - 1) }),
      'The key is revoked or has expired',
    ],
    [
      'was revoked',
      async () => (await keys.revoke(maintenance(), await ended({}))).id,
      'The key is revoked or has expired',
    ],
    [
      'was rotated',
      async () => (await keys.rotate(maintenance(), await ended({}), 0)).replaces,
      'The key is revoked or has expired',
    ],
  ])('is rejected for a key that %s, and creates no key', async (_, idOf, message) => {
    const id = await idOf();
    const count = async () => (await keys.listKeys(tenant.id)).length;
    const before = await count();
    await expect(keys.rotate(maintenance(), id, 1_000)).rejects.toMatchObject({
      ...{ code: 'not_found', message: expect.stringContaining(message) },
    });
    expect(await count()).toBe(before);
  });

  async function ended(options: Partial<NewKey>): Promise<string> {
    return (await app.key(tenant.id, SCOPES, options)).key.id;
  }
});

describe('last_used_at', () => {
  it('is null until the key is used', async () => {
    const { api, key } = await app.key(tenant.id);
    expect(await lastUsed(key.id)).toBeNull();
    const began = Date.now();
    await api.get(ME);
    await until(async () => (await lastUsed(key.id)) !== null);
    const used = await lastUsed(key.id);
    expect(used!.getTime()).toBeGreaterThanOrEqual(began - 1);
    expect(used!.getTime()).toBeLessThanOrEqual(Date.now() + 1);
  });

  it('is written once for many requests', async () => {
    const { api, key } = await app.key(tenant.id);
    const touch = jest.spyOn(app.app.get(CredentialStore), 'updateLastUsed');
    await Promise.all(Array.from({ length: 20 }, () => api.get(ME)));
    expect(touch.mock.calls).toMatchObject([[{ actor: { key: { id: key.id } } }]]);
    touch.mockRestore();
  });

  it.each([
    ['59 seconds ago', 59, false],
    ['61 seconds ago', 61, true],
  ])('is updated at most once a minute across all instances: %s', async (_, seconds, moves) => {
    const { key } = await app.key(tenant.id);
    await app.sql(
      `update api_keys set last_used_at = now() - make_interval(secs => $2) where id = $1`,
      [key.id, seconds],
    );
    const before = await lastUsed(key.id);
    await app.app.get(CredentialStore).updateLastUsed({ tenant, actor: { key } } as never);
    const after = await lastUsed(key.id);
    expect(after!.getTime() > before!.getTime()).toBe(moves);
  });

  it('is not updated for rejected keys', async () => {
    const { api, key } = await app.key(tenant.id, SCOPES, { expiresAt: new Date() });
    const touch = jest.spyOn(app.app.get(CredentialStore), 'updateLastUsed');
    await api.get(ME);
    expect(touch).not.toHaveBeenCalled();
    touch.mockRestore();
    expect(await lastUsed(key.id)).toBeNull();
  });
});

describe('the stored key', () => {
  it('consists of its SHA-256 and its first 8 characters', async () => {
    const { key } = await app.key(tenant.id);
    const [row] = await app.sql<{ hash: string; key_start: string }>(
      `select encode(key_hash, 'hex') as hash, key_start from api_keys where id = $1`,
      [key.id],
    );
    expect(row).toEqual({
      hash: createHash('sha256').update(key.key).digest('hex'),
      key_start: key.key.slice(0, 8),
    });
  });
});

async function lastUsed(keyId: string): Promise<Date | null> {
  const [row] = await app.sql<{ last_used_at: Date | null }>(
    'select last_used_at from api_keys where id = $1',
    [keyId],
  );
  return row!.last_used_at;
}
