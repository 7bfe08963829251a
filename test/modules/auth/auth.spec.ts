import { EventPublisher } from '../../../src/modules/events/event-publisher.js';
import { createHash, randomUUID } from 'node:crypto';
import http from 'node:http';
import { generateKey } from '../../../src/platform/access/api-key-format.js';
import { SCOPES } from '../../../src/platform/access/scopes.js';
import type { Answer } from '../../../src/testing/api-client.js';
import { SELECT_DUMP_STATEMENT } from '../../support/database/dump-statement.js';
import { dataOf, expectInvalid } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import { stopBackgroundWork } from '../../support/database/isolation.js';
import { shareOf } from '../../support/share-of.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import {
  routeName,
  pathOf,
  ALL_ROUTES,
  SCOPED_ROUTES,
  send,
  statusOf,
  validRequest,
  type Route,
  type ValidRequest,
} from '../../../src/testing/routes.js';

// Broken on purpose for docs/operating/runbook.md#keys-or-sign-ins-are-refused

const ME = '/api/v1/me';

let app: TestApp;
let tenant: Tenant;
let expired: Tenant;
let revoked: Tenant;
let dumpStatement: string | undefined;

/** Requests that would succeed with the key of the tenant. A request that is refused changes nothing. */
const requests = new Map<Route, ValidRequest>();
const requestOf = (route: Route) => requests.get(route)!;

beforeAll(async () => {
  app = await TestApp.start();
  await stopBackgroundWork(app);
  tenant = await app.organization({ scopes: app.scopes.every });
  for (const route of ALL_ROUTES) requests.set(route, await validRequest(route, tenant));
  expired = await app.key(tenant.id, SCOPES, { expiresAt: new Date(Date.now() - 1) });
  revoked = await app.key(tenant.id);
  await app.revoke(revoked);
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

/** Headers without a valid key, derived from a valid key. */
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
  'two keys separated by a comma': (key) => ({ Authorization: `Bearer ${key}, Bearer ${key}` }),
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
  'a well-formed key that was never issued': () => ({ Authorization: `Bearer ${generateKey()}` }),
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
    'names the header if it is missing: %s',
    async (name) => {
      const form = 'Send it in the header "Authorization: Bearer lat_...".';
      expect(await messageFor(name)).toBe(`The API key is missing. ${form}`);
    },
  );

  it.each(['a key without a scheme', 'Basic', 'another scheme', 'another prefix', 'a quoted key'])(
    'describes the format if the header has a different one: %s',
    async (name) => {
      expect(await messageFor(name)).toBe(
        'The Authorization header does not hold an API key. Send it once, in the form "Authorization: Bearer lat_...".',
      );
    },
  );

  it.each(['a bad checksum', 'a well-formed key that was never issued'])(
    'does not describe the format if it is correct: %s',
    async (name) => {
      expect(await messageFor(name)).toBe('The API key is missing, invalid or expired.');
    },
  );
});

it('every route answers 401 and changes no row for bad credentials', async () => {
  const before = await dump();
  for (const [index, route] of ALL_ROUTES.entries()) {
    const kinds = shareOf(Object.entries(BAD_CREDENTIALS), index, 4);
    const attempts = kinds.map(async ([name, credentials]) => {
      const headers = credentials(tenant.key.key);
      const answer = await send(app.client(), route, requestOf(route), headers);
      return { name: `${name} on ${routeName(route)}`, answer };
    });
    const answers = await Promise.all(attempts);
    expect(answers.filter(({ answer }) => answer.status !== 401)).toEqual([]);
    for (const { answer } of answers) expectUnauthorized(answer);
  }
  expect(await dump()).toEqual(before);
});

describe.each(ALL_ROUTES.map((route, index) => [routeName(route), route, index] as const))(
  '%s with a missing, invalid or expired key',
  (_, route, index) => {
    it('answers 401 to an expired and to a revoked key', async () => {
      expectUnauthorized(await send(expired.api, route, requestOf(route)));
      expectUnauthorized(await send(revoked.api, route, requestOf(route)));
    });

    it('answers 401 to two Authorization headers, even if one or both have a valid key', async () => {
      const { path } = requestOf(route);
      const good = `Bearer ${tenant.key.key}`;
      const bad = `Bearer ${generateKey()}`;
      const pairs = [
        [good, good],
        [good, bad],
        [bad, good],
        [good, ''],
      ];
      for (const pair of shareOf(pairs, index, 2)) {
        expect(await statusWithHeaders(route.method, path, pair)).toBe(401);
      }
    });

    it('answers 401 to a key in the query', async () => {
      const { path, body } = requestOf(route);
      const names = ['api_key', 'key', 'access_token', 'token', 'Authorization'];
      const paths = shareOf(names, index, 2).map((name) => `${path}?${name}=${tenant.key.key}`);
      const attempts = paths.map((inQuery) => send(app.client(), route, { path: inQuery, body }));
      for (const answer of await Promise.all(attempts)) expectUnauthorized(answer);
    });

    it('answers 401 to HEAD without a body', async () => {
      const answer = await app.client().request('HEAD', requestOf(route).path);
      expect(answer).toMatchObject({ status: 401, body: undefined });
      expect(answer.headers.get('www-authenticate')).toBe('Bearer realm="latitude"');
    });
  },
);

describe('the Authorization header', () => {
  it.each(['Bearer', 'bearer', 'BEARER', 'bEaReR'])('accepts the scheme %s', async (scheme) => {
    const headers = { Authorization: `${scheme} ${tenant.key.key}` };
    expect(await app.client().get(ME, { headers })).toMatchObject({ status: 200 });
  });

  it('accepts more than one space after the scheme', async () => {
    const headers = { Authorization: `Bearer   ${tenant.key.key}` };
    expect(await app.client().get(ME, { headers })).toMatchObject({ status: 200 });
  });

  it('is the only place for a key: api_key in the query is an unknown parameter', async () => {
    expectInvalid(await tenant.api.get(`${ME}?api_key=${tenant.key.key}`), 'api_key');
  });
});

describe('scopes', () => {
  it('every route answers 403 to a key with all other scopes, and changes no row', async () => {
    const poorKeys = new Map<string, Tenant>();
    for (const scope of SCOPES) {
      const others = SCOPES.filter((other) => other !== scope);
      poorKeys.set(scope, await app.key(tenant.id, others));
    }
    const before = await dump();
    for (const route of SCOPED_ROUTES) {
      const { body } = requestOf(route);
      const request = { path: pathOf(route, randomUUID()), body };
      expectRefusal(await send(poorKeys.get(route.access)!.api, route, request), {
        status: 403,
        code: 'insufficient_scope',
        message: route.access,
        challenge: `Bearer realm="latitude", error="insufficient_scope", scope="${route.access}"`,
      });
    }
    expect(await dump()).toEqual(before);
  });

  it.each(SCOPED_ROUTES.map((route) => [routeName(route), route] as const))(
    '%s accepts a key with only its scope',
    async (_, route) => {
      const { api } = await app.key(tenant.id, [route.access, ...(route.needs ?? [])]);
      const { status } = await send(api, route, await validRequest(route, tenant));
      expect(status).toBe(statusOf(route));
    },
  );

  it('do not include each other: write does not include read', async () => {
    const keys = new Map<string, Tenant>();
    for (const route of SCOPED_ROUTES) {
      const counterpart = route.access.endsWith(':read')
        ? route.access.replace(':read', ':write')
        : route.access.replace(':write', ':read');
      const scopes = SCOPES.filter((scope) => scope === counterpart && scope !== route.access);
      const key = keys.get(counterpart) ?? (await app.key(tenant.id, scopes));
      keys.set(counterpart, key);
      const { status } = await send(key.api, route, requestOf(route));
      expect(status).toBe(403);
    }
  });
});

describe('GET /api/v1/me', () => {
  it('returns the organization, scopes, expiry and limits of the key', async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    const { api, key, id } = await app.key(tenant.id, ['leads:read'], { name: 'Zap', expiresAt });
    expect(dataOf<object>(await api.get(ME))).toEqual({
      organization: {
        id,
        name: expect.stringMatching(/^Organization /) as string,
        time_zone: 'UTC',
      },
      key: { id: key.id, name: 'Zap' },
      scopes: ['leads:read'],
      expires_at: expiresAt.toISOString(),
      limits: { reads_per_minute: 1_000_000, writes_per_minute: 1_000_000 },
    });
  });

  it('accepts a key without scopes, and returns null if it never expires', async () => {
    const { api } = await app.key(tenant.id, []);
    expect(dataOf<object>(await api.get(ME))).toMatchObject({ scopes: [], expires_at: null });
  });
});

function withOtherEnd(key: string): string {
  return key.slice(0, -1) + (key.endsWith('0') ? '1' : '0');
}

/** Returns all rows of all tables without last_used_at, which is written after the response. */
async function dump(): Promise<{ name: string; row: string }[]> {
  // Afterwards no event moves to another table.
  await app.app.get(EventPublisher).publish();
  dumpStatement ??= (await app.sql<{ statement: string }>(SELECT_DUMP_STATEMENT))[0]!.statement;
  return app.sql(dumpStatement);
}

/** Sends several Authorization headers, which fetch would join. */
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
