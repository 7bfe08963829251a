import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { createLead, expectError, expectInvalid, LEADS } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { type RawRequest, rawRequest } from '../../../src/testing/raw-http.js';
import { FURTHER_ROUTES, routeName, ROUTES, validRequest } from '../../../src/testing/routes.js';
import { shareOf } from '../../support/share-of.js';

const JSON_TYPE = ['Content-Type', 'application/json'];
const CHUNKED = ['Transfer-Encoding', 'chunked'];
const GZIP = ['Content-Encoding', 'gzip'];
const ACTIONS = FURTHER_ROUTES.filter(({ method, body }) => method === 'POST' && !body).map(
  (route) => [routeName(route), route] as const,
);
const BODYLESS_ROUTES = ROUTES.filter(({ method }) => method === 'GET' || method === 'DELETE').map(
  (route, index) => [routeName(route), route, index] as const,
);

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start({ settings: { bodyLimitBytes: 1024 } });
  tenant = await app.organization({ scopes: app.scopes.every });
});
afterAll(() => app.stop());

type Sent = Partial<RawRequest> & { headers?: readonly string[] };

/** Sends a request with exactly these headers and body. */
function send(method: string, path: string, { headers = [], ...rest }: Sent = {}) {
  const own = ['Host', 'a', 'Authorization', `Bearer ${tenant.key.key}`];
  return rawRequest(app.port, { method, path, headers: [...own, ...headers], ...rest });
}

function lengthOf(body: string | Uint8Array): string[] {
  return ['Content-Length', String(Buffer.byteLength(body))];
}

const NOTHING: readonly (readonly [string, Sent])[] = [
  ['no body and a Content-Type', { headers: JSON_TYPE }],
  ['Content-Length: 0', { headers: [...JSON_TYPE, 'Content-Length', '0'] }],
  ['an empty chunked body', { headers: [...JSON_TYPE, ...CHUNKED] }],
  ['an empty chunked body that claims to be packed', { headers: [...CHUNKED, ...GZIP] }],
  ['an empty object', { headers: [...JSON_TYPE, ...lengthOf('{}')], body: '{}' }],
  ['an empty object without Content-Type', { headers: lengthOf('{}'), body: '{}' }],
  ['an empty object with white space', { headers: CHUNKED, body: ' {\r\n\t} \n' }],
  ['a packed empty object', { headers: [...CHUNKED, ...GZIP], body: gzipSync('{}') }],
];

const SOMETHING = ['{"a":1}', '[]', 'null', '{', '{}{}', ' ', 'a=b', '\u{feff}{}', '\0'];

describe.each(BODYLESS_ROUTES)('%s', (_, route, index) => {
  it('accepts zero bytes and an empty object', async () => {
    for (const [name, sent] of shareOf(NOTHING, index, 1)) {
      const { path } = await validRequest(route, tenant);
      const { status } = await send(route.method, path, sent);
      expect({ name, status }).toEqual({ name, status: 200 });
    }
  });

  it('rejects any other body and names body', async () => {
    const { path } = await validRequest(route, tenant);
    for (const body of shareOf(SOMETHING, index, 2)) {
      const headers = [...JSON_TYPE, ...lengthOf(body)];
      expectInvalid(await send(route.method, path, { headers, body }), 'body');
      expectInvalid(await send(route.method, path, { headers: CHUNKED, body }), 'body');
    }
  });
});

describe.each(ACTIONS)('%s', (_, route) => {
  it.each([
    ['no body', {}],
    ['zero bytes', { headers: [...JSON_TYPE, ...CHUNKED] }],
    ['an empty object', { headers: [...JSON_TYPE, ...lengthOf('{}')], body: '{}' }],
  ])('accepts %s', async (_name, sent: Sent) => {
    const { path } = await validRequest(route, tenant);
    expect([200, 202]).toContain((await send(route.method, path, sent)).status);
  });

  it.each([
    ['overlap_hours', '{"overlap_hours":0}'],
    ['body', '[]'],
    ['body', 'null'],
    ['body', '{'],
  ])('names %s in the error for %s', async (field, body) => {
    const { path } = await validRequest(route, tenant);
    const headers = [...JSON_TYPE, ...lengthOf(body)];
    expectInvalid(await send(route.method, path, { headers, body }), field);
  });

  it('refuses another content type', async () => {
    const { path } = await validRequest(route, tenant);
    const headers = ['Content-Type', 'text/plain', ...lengthOf('{}')];
    const answer = await send(route.method, path, { headers, body: '{}' });
    expectError(answer, 415, 'unsupported_media_type');
  });
});

describe.each(['GET', 'DELETE'])('%s /mcp', (method) => {
  it('refuses a body and names body', async () => {
    const headers = [...JSON_TYPE, ...lengthOf('{"a":1}')];
    expectInvalid(await send(method, '/mcp', { headers, body: '{"a":1}' }), 'body');
  });

  it('accepts an empty object', async () => {
    const headers = [...JSON_TYPE, ...lengthOf('{}')];
    expectError(await send(method, '/mcp', { headers, body: '{}' }), 400, 'no_session');
  });
});

describe('a body on a request that takes none', () => {
  it.each([
    ['text/plain', 'Hello'],
    ['application/x-www-form-urlencoded', 'status=new'],
  ])('is rejected with the content type %s', async (type, body) => {
    const headers = ['Content-Type', type, ...lengthOf(body)];
    expectInvalid(await send('GET', LEADS, { headers, body }), 'body');
  });

  it.each([
    ['gzip', gzipSync('{"a":1}')],
    ['gzip', Buffer.from('{}')],
    ['zstd', Buffer.from('{}')],
  ])('is rejected with the encoding %s if it is not {}', async (coding, body) => {
    const headers = ['Content-Encoding', coding, ...lengthOf(body)];
    expectInvalid(await send('DELETE', `${LEADS}/${randomUUID()}`, { headers, body }), 'body');
  });

  it('does not delete the record', async () => {
    const { id } = await createLead(tenant.api);
    const body = '{"dry_run":true}';
    expectInvalid(
      await send('DELETE', `${LEADS}/${id}`, { headers: lengthOf(body), body }),
      'body',
    );
    expect(await tenant.api.get(`${LEADS}/${id}`)).toMatchObject({ status: 200 });
  });

  it('is rejected on HEAD', async () => {
    const answer = await send('HEAD', LEADS, { headers: lengthOf('[]'), body: '[]' });
    expect(answer).toMatchObject({ status: 400, body: undefined });
  });

  it('is reported together with problems of the query', async () => {
    const sent = { headers: lengthOf('[]'), body: '[]' };
    expectInvalid(await send('GET', `${LEADS}?limit=0&x=1`, sent), 'limit', 'x', 'body');
  });

  it.each([lengthOf('x'.repeat(2000)), CHUNKED])(
    'is 413 over the limit, before 400 and 404 (%s)',
    async (...headers) => {
      const sent = { headers, body: 'x'.repeat(2000) };
      const answer = await send('DELETE', `${LEADS}/${randomUUID()}?x=1`, sent);
      expectError(answer, 413, 'payload_too_large');
    },
  );

  it('is checked after 401, unknown routes and 403', async () => {
    const sent = { headers: lengthOf('[]'), body: '[]' };
    const anyone = await rawRequest(app.port, {
      method: 'GET',
      path: LEADS,
      ...sent,
      headers: ['Host', 'a', ...sent.headers],
    });
    expectError(anyone, 401, 'unauthorized');
    expectError(await send('GET', '/api/v1/nothing', sent), 404, 'not_found');
    const writer = await app.key(tenant.id, ['leads:write']);
    const headers = ['Host', 'a', 'Authorization', `Bearer ${writer.key.key}`, ...sent.headers];
    const refused = await rawRequest(app.port, { method: 'GET', path: LEADS, ...sent, headers });
    expectError(refused, 403, 'insufficient_scope');
  });

  it('is checked before 404 for an unknown id', async () => {
    const sent = { headers: lengthOf('[]'), body: '[]' };
    expectInvalid(await send('GET', `${LEADS}/${randomUUID()}`, sent), 'body');
    expectInvalid(await send('GET', `${LEADS}/malformed`, sent), 'body');
  });

  it('is requested from a client that waits with Expect: 100-continue', async () => {
    const body = '{}';
    const headers = ['Expect', '100-continue', ...lengthOf(body)];
    expect(await send('GET', LEADS, { headers, body })).toMatchObject({ status: 200 });
  });
});
