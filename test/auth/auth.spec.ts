import { createHash, randomUUID } from 'node:crypto';
import http from 'node:http';
import { generateKey } from '../../src/auth/api-key-format.js';
import { AuthRepository } from '../../src/auth/auth.repository.js';
import { KeysService, type NewKey } from '../../src/auth/keys.service.js';
import { SCOPES } from '../../src/auth/scopes.js';
import type { Answer } from '../../src/testing/api-client.js';
import { SELECT_DUMP_STATEMENT } from '../support/dump-statement.js';
import { dataOf, expectInvalid } from '../../src/testing/factories.js';
import { TestApp } from '../../src/testing/test-app.js';
import type { Tenant } from '../../src/testing/test-server.js';
import { until } from '../support/product.js';
import {
  routeName,
  pathOf,
  ROUTES,
  SCOPED_ROUTES,
  send,
  validRequest,
} from '../../src/testing/routes.js';

const ME = '/api/v1/me';

let app: TestApp;
let tenant: Tenant;
let keys: KeysService;
let everyRowStatement: string | undefined;

beforeAll(async () => {
  app = await TestApp.start();
  tenant = await app.organization();
  keys = app.app.get(KeysService);
});
afterAll(() => app.stop());

/** Expects exactly the error envelope and this challenge. */
function expectRefusal(
  { status, headers, body }: Answer,
  expected: { status: number; code: string; message?: string; challenge: string },
): void {
  expect({ status, body: body as unknown }).toEqual({
    status: expected.status,
    body: {
      error: {
        code: expected.code,
        message: expect.stringContaining(expected.message ?? '') as string,
        retryable: false,
        request_id: headers.get('x-request-id'),
      },
    },
  });
  expect(headers.get('www-authenticate')).toBe(expected.challenge);
}

function expectUnauthorized(answer: Answer): void {
  const challenge = 'Bearer realm="latitude"';
  expectRefusal(answer, { status: 401, code: 'unauthorized', challenge });
}

/** Headers that hold no valid key, made of one that is valid. */
const BAD_CREDENTIALS: Readonly<Record<string, (key: string) => Record<string, string>>> = {
  'no key': () => ({}),
  'an empty header': () => ({ Authorization: '' }),
  'a scheme without a key': () => ({ Authorization: 'Bearer' }),
  'a key without a scheme': (key) => ({ Authorization: key }),
  Basic: (key) => ({ Authorization: `Basic ${Buffer.from(`${key}:`).toString('base64')}` }),
  'Basic with the plain key': (key) => ({ Authorization: `Basic ${key}` }),
  'another scheme': (key) => ({ Authorization: `Token ${key}` }),
  'a longer scheme': (key) => ({ Authorization: `XBearer ${key}` }),
  'a tab after the scheme': (key) => ({ Authorization: `Bearer\t${key}` }),
  'a colon after the scheme': (key) => ({ Authorization: `Bearer: ${key}` }),
  'a quoted key': (key) => ({ Authorization: `Bearer "${key}"` }),
  'a key and more': (key) => ({ Authorization: `Bearer ${key} x` }),
  'two keys by a comma': (key) => ({ Authorization: `Bearer ${key}, Bearer ${key}` }),
  'a bad checksum': (key) => ({ Authorization: `Bearer ${withOtherEnd(key)}` }),
  'another prefix': (key) => ({ Authorization: `Bearer ${key.replace('lat_', 'key_')}` }),
  'the prefix in upper case': (key) => ({ Authorization: `Bearer ${key.replace('lat_', 'LAT_')}` }),
  'a truncated key': (key) => ({ Authorization: `Bearer ${key.slice(0, -1)}` }),
  'the shown start of a key': (key) => ({ Authorization: `Bearer ${key.slice(0, 8)}` }),
  'an extra suffix': (key) => ({ Authorization: `Bearer ${key}x` }),
  'a NUL, escaped': (key) => ({ Authorization: `Bearer ${key}%00` }),
  'Latin letters beyond ASCII': (key) => ({ Authorization: `Bearer ${key.slice(0, -1)}é` }),
  'an emoji in UTF-8': (key) => ({
    Authorization: `Bearer ${Buffer.from(`${key}🔑`).toString('latin1')}`,
  }),
  'a key of 10,000 characters': () => ({ Authorization: `Bearer lat_${'a'.repeat(10_000)}` }),
  'a well-formed key that nobody was given': () => ({ Authorization: `Bearer ${generateKey()}` }),
  'the hash of a key': (key) => ({
    Authorization: `Bearer ${createHash('sha256').update(key).digest('hex')}`,
  }),
  'a header of another name': (key) => ({
    'X-API-Key': key,
    'Proxy-Authorization': `Bearer ${key}`,
  }),
  'a cookie': (key) => ({ Cookie: `Authorization=Bearer ${key}; api_key=${key}` }),
};

describe('the message of a 401', () => {
  const messageFor = async (name: string) => {
    const headers = BAD_CREDENTIALS[name]!(tenant.key.key);
    const { body } = await app.client().get('/api/v1/me', { headers });
    return (body as { error: { message: string } }).error.message;
  };

  it.each(['no key', 'a header of another name', 'a cookie'])(
    'tells the header where it is missing: %s',
    async (name) => {
      const form = 'Send it in the header "Authorization: Bearer lat_...".';
      expect(await messageFor(name)).toBe(`The API key is missing. ${form}`);
    },
  );

  it.each(['a key without a scheme', 'Basic', 'another scheme', 'another prefix', 'a quoted key'])(
    'tells the form where the header has another: %s',
    async (name) => {
      expect(await messageFor(name)).toBe(
        'The Authorization header does not hold an API key. Send it once, in the form "Authorization: Bearer lat_...".',
      );
    },
  );

  it.each(['a bad checksum', 'a well-formed key that nobody was given'])(
    'does not tell the form where the header has it: %s',
    async (name) => {
      expect(await messageFor(name)).toBe('The API key is missing, invalid or expired.');
    },
  );
});

describe.each(ROUTES.map((route) => [routeName(route), route] as const))(
  'a key that is missing, invalid or expired: %s',
  (_, route) => {
    it('is 401, and nothing is done', async () => {
      const request = await validRequest(route, tenant);
      const before = await everyRow();
      const attempts = Object.entries(BAD_CREDENTIALS).map(async ([name, credentials]) => {
        const headers = credentials(tenant.key.key);
        return { name, answer: await send(app.client(), route, request, headers) };
      });
      const answers = await Promise.all(attempts);
      expect(answers.filter(({ answer }) => answer.status !== 401)).toEqual([]);
      for (const { answer } of answers) expectUnauthorized(answer);
      expect(await everyRow()).toEqual(before);
    });

    it('is 401 when it has expired or was revoked', async () => {
      const expired = await app.key(tenant.id, SCOPES, { expiresAt: new Date(Date.now() - 1) });
      const revoked = await app.key(tenant.id);
      await keys.revoke(revoked.key.id);
      const request = await validRequest(route, tenant);
      expectUnauthorized(await send(expired.api, route, request));
      expectUnauthorized(await send(revoked.api, route, request));
    });

    it('is 401 with two Authorization headers, whichever holds the key', async () => {
      const { path } = await validRequest(route, tenant);
      const good = `Bearer ${tenant.key.key}`;
      const bad = `Bearer ${generateKey()}`;
      for (const pair of [
        [good, good],
        [good, bad],
        [bad, good],
        [good, ''],
      ]) {
        expect(await statusWithHeaders(route.method, path, pair)).toBe(401);
      }
    });

    it('is 401 for a key in the query', async () => {
      const { path, body } = await validRequest(route, tenant);
      const names = ['api_key', 'key', 'access_token', 'token', 'Authorization'];
      const paths = names.map((name) => `${path}?${name}=${tenant.key.key}`);
      const attempts = paths.map((inQuery) => send(app.client(), route, { path: inQuery, body }));
      for (const answer of await Promise.all(attempts)) expectUnauthorized(answer);
    });

    it('is 401 on HEAD as well, without a body', async () => {
      const { path } = await validRequest(route, tenant);
      const answer = await app.client().request('HEAD', path);
      expect(answer).toMatchObject({ status: 401, body: undefined });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="latitude"');
    });
  },
);

describe('the header', () => {
  it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('takes the scheme as %s', async (scheme) => {
    const headers = { Authorization: `${scheme} ${tenant.key.key}` };
    expect(await app.client().get(ME, { headers })).toMatchObject({ status: 200 });
  });

  it('takes more than one space after the scheme', async () => {
    const headers = { Authorization: `Bearer   ${tenant.key.key}` };
    expect(await app.client().get(ME, { headers })).toMatchObject({ status: 200 });
  });

  it('is the only place: beside it, a key in the query is an unknown parameter', async () => {
    expectInvalid(await tenant.api.get(`${ME}?api_key=${tenant.key.key}`), 'api_key');
  });
});

describe('scopes', () => {
  it.each(SCOPED_ROUTES.map((route) => [routeName(route), route] as const))(
    '%s is refused without its scope, whatever other scopes the key has',
    async (_, route) => {
      const others = SCOPES.filter((scope) => scope !== route.access);
      const poor = await app.key(tenant.id, others);
      const request = { path: pathOf(route, randomUUID()), body: await route.body?.(tenant) };
      const before = await everyRow();
      expectRefusal(await send(poor.api, route, request), {
        status: 403,
        code: 'insufficient_scope',
        message: route.access,
        challenge: `Bearer realm="latitude", error="insufficient_scope", scope="${route.access}"`,
      });
      expect(await everyRow()).toEqual(before);
    },
  );

  it.each(SCOPED_ROUTES.map((route) => [routeName(route), route] as const))(
    '%s answers a key that has its scope and no other',
    async (_, route) => {
      const { api } = await app.key(tenant.id, [route.access]);
      const { status } = await send(api, route, await validRequest(route, tenant));
      expect(status).toBe(route.method === 'POST' ? 201 : 200);
    },
  );

  it('do not include one another: write is not read', async () => {
    for (const route of SCOPED_ROUTES) {
      const twin = route.access.endsWith(':read')
        ? route.access.replace(':read', ':write')
        : route.access.replace(':write', ':read');
      const { api } = await app.key(
        tenant.id,
        SCOPES.filter((scope) => scope === twin),
      );
      const { status } = await send(api, route, await validRequest(route, tenant));
      expect(status).toBe(403);
    }
  });
});

describe('GET /api/v1/me', () => {
  it('tells what the key is and may do', async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    const { api, key, id } = await app.key(tenant.id, ['leads:read'], { name: 'Zap', expiresAt });
    expect(dataOf<object>(await api.get(ME))).toEqual({
      organization: { id, name: expect.stringMatching(/^Organization /) as string },
      key: { id: key.id, name: 'Zap' },
      scopes: ['leads:read'],
      expires_at: expiresAt.toISOString(),
      limits: { reads_per_minute: 1_000_000, writes_per_minute: 1_000_000 },
    });
  });

  it('answers a key without any scope, and null where it never expires', async () => {
    const { api } = await app.key(tenant.id, []);
    expect(dataOf<object>(await api.get(ME))).toMatchObject({ scopes: [], expires_at: null });
  });
});

describe('the end of a key (within 1 second, on every instance; NocoDB: valid for days)', () => {
  const HOUR_MS = 3_600_000;
  let other: TestApp;

  beforeAll(async () => {
    other = await TestApp.start({ database: app.database });
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });
  afterAll(() => other.stop());

  it('comes when it is revoked, and when it is rotated without overlap', async () => {
    const revoked = await app.key(tenant.id);
    const rotated = await app.key(tenant.id, ['leads:read']);
    await Promise.all([revoked, rotated].map(takenByBoth));
    const [endsOfRevoked, endsOfRotated] = [revoked, rotated].map(lastSuccesses);
    await keys.revoke(revoked.key.id);
    const revokedAt = Date.now();
    const next = await keys.rotate(rotated.key.id, 0);
    const rotatedAt = Date.now();
    for (const end of await endsOfRevoked!) expect(end - revokedAt).toBeLessThan(1000);
    for (const end of await endsOfRotated!) expect(end - rotatedAt).toBeLessThan(1000);
    expect(await other.client(next.key).get(ME)).toMatchObject({
      status: 200,
      body: { data: { scopes: ['leads:read'] } },
    });
  });

  it('comes at its expiry, whatever was looked up before', async () => {
    const expiresAt = new Date(Date.now() + HOUR_MS);
    const expiring = await app.key(tenant.id, SCOPES, { expiresAt });
    setTime(expiresAt.getTime() - 1);
    await takenByBoth(expiring);
    setTime(expiresAt.getTime());
    await refusedByBoth(expiring);
  });

  it('comes after the overlap when it is rotated with one, and both keys work until then', async () => {
    const old = await app.key(tenant.id, ['leads:read']);
    await takenByBoth(old);
    const before = Date.now();
    const next = await keys.rotate(old.key.id, HOUR_MS);
    const after = Date.now();
    const end = next.old_expires_at!.getTime();
    expect(end).toBeGreaterThanOrEqual(before + HOUR_MS);
    expect(end).toBeLessThanOrEqual(after + HOUR_MS);
    // What was looked up before the rotation is too old to be used by then.
    const late = performance.now() + 2_000;
    jest.spyOn(performance, 'now').mockReturnValue(late);
    setTime(end - 1);
    await takenByBoth(old);
    await takenByBoth({ key: next });
    setTime(end);
    await refusedByBoth(old);
    await takenByBoth({ key: next });
  });

  it('leaves the other keys of the organization alone', async () => {
    const [one, two] = await Promise.all([app.key(tenant.id), app.key(tenant.id)]);
    await keys.revoke(one.key.id);
    expect(await two.api.get(ME)).toMatchObject({ status: 200 });
  });

  /** When each instance last took the key. */
  function lastSuccesses({ key }: Pick<Tenant, 'key'>): Promise<number[]> {
    return Promise.all([app, other].map((instance) => lastSuccess(instance, key.key)));
  }

  /** Polls until the key is refused; answers when the last request began that was not. */
  async function lastSuccess(instance: TestApp, key: string): Promise<number> {
    let last = 0;
    await until(
      async () => {
        const began = Date.now();
        const { status } = await instance.client(key).get(ME);
        if (status === 200) last = began;
        return status === 401;
      },
      { everyMs: 10 },
    );
    return last;
  }

  /** Both instances have looked the key up, as late as can be. */
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

  /** Sets the clock, which then stands still. */
  function setTime(time: number): void {
    jest.spyOn(Date, 'now').mockReturnValue(time);
  }
});

describe('rotation', () => {
  it('gives the new key all that the old one had, and as long a life', async () => {
    const life = 90_000;
    const userId = randomUUID();
    const { key: old } = await app.key(tenant.id, ['tasks:read'], {
      ...{ name: 'n8n', userId },
    });
    await app.sql(
      `update api_keys set expires_at = created_at + $2 * interval '1 ms' where id = $1`,
      [old.id, life],
    );
    const before = Date.now();
    const { key, ...next } = await keys.rotate(old.id, 1_000);
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

  it('never makes the life of the old key longer', async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    const { key } = await app.key(tenant.id, SCOPES, { expiresAt });
    expect((await keys.rotate(key.id, 3_600_000)).old_expires_at).toEqual(expiresAt);
  });

  it.each([
    ['nobody has', () => Promise.resolve(randomUUID()), 'There is no such key.'],
    ['has expired', () => ended({ expiresAt: new Date(Date.now() - 1) }), 'has ended'],
    ['was revoked', async () => (await keys.revoke(await ended({}))).id, 'has ended'],
    ['was rotated', async () => (await keys.rotate(await ended({}), 0)).replaces, 'has ended'],
  ])('is refused for a key that %s, and makes none', async (_, idOf, message) => {
    const id = await idOf();
    const count = async () => (await keys.listKeys(tenant.id)).length;
    const before = await count();
    await expect(keys.rotate(id, 1_000)).rejects.toMatchObject({
      ...{ code: 'not_found', message: expect.stringContaining(message) },
    });
    expect(await count()).toBe(before);
  });

  async function ended(options: Partial<NewKey>): Promise<string> {
    return (await app.key(tenant.id, SCOPES, options)).key.id;
  }
});

describe('last_used_at', () => {
  it('is empty until the key is used', async () => {
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
    const touch = jest.spyOn(app.app.get(AuthRepository), 'updateLastUsed');
    await Promise.all(Array.from({ length: 20 }, () => api.get(ME)));
    expect(touch.mock.calls).toEqual([[key.id]]);
    touch.mockRestore();
  });

  it.each([
    ['59 seconds ago', 59, false],
    ['61 seconds ago', 61, true],
  ])('moves at most once a minute over all instances: %s', async (_, seconds, moves) => {
    const { key } = await app.key(tenant.id);
    await app.sql(
      `update api_keys set last_used_at = now() - make_interval(secs => $2) where id = $1`,
      [key.id, seconds],
    );
    const before = await lastUsed(key.id);
    await app.app.get(AuthRepository).updateLastUsed(key.id);
    const after = await lastUsed(key.id);
    expect(after!.getTime() > before!.getTime()).toBe(moves);
  });

  it('is not written for keys that are refused', async () => {
    const { api, key } = await app.key(tenant.id, SCOPES, { expiresAt: new Date() });
    const touch = jest.spyOn(app.app.get(AuthRepository), 'updateLastUsed');
    await api.get(ME);
    expect(touch).not.toHaveBeenCalled();
    touch.mockRestore();
    expect(await lastUsed(key.id)).toBeNull();
  });
});

describe('what is stored of a key', () => {
  it('is its SHA-256 and its first 8 characters', async () => {
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

function withOtherEnd(key: string): string {
  return key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
}

async function lastUsed(keyId: string): Promise<Date | null> {
  const [row] = await app.sql<{ last_used_at: Date | null }>(
    'select last_used_at from api_keys where id = $1',
    [keyId],
  );
  return row!.last_used_at;
}

/** Every row of every table, but the time of last use, which is written after the answer. */
async function everyRow(): Promise<{ name: string; row: string }[]> {
  everyRowStatement ??= (await app.sql<{ statement: string }>(SELECT_DUMP_STATEMENT))[0]!.statement;
  return app.sql(everyRowStatement);
}

/** Sends several headers of the name Authorization, which fetch would join. */
function statusWithHeaders(method: string, path: string, values: string[]): Promise<number> {
  const headers = values.flatMap((value) => ['Authorization', value]);
  return new Promise((resolve, reject) => {
    const options = { port: app.port, method, path, headers: ['Host', 'localhost', ...headers] };
    const request = http.request(options, (response) => {
      response.resume();
      resolve(response.statusCode!);
    });
    request.once('error', reject).end();
  });
}
