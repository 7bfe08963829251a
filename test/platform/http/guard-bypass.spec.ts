import type { Answer } from '../../../src/testing/api-client.js';
import {
  createLead,
  dataOf,
  errorOf,
  expectError,
  expectInvalid,
  LEADS,
} from '../../../src/testing/factories.js';
import { stopBackgroundWork } from '../../support/database/isolation.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { rawRequest } from '../../../src/testing/raw-http.js';
import {
  routeName,
  pathOf,
  type Route,
  ROUTES,
  SCOPED_ROUTES,
  send,
  statusOf,
} from '../../../src/testing/routes.js';
import { recordTables, rowsAsText } from '../../support/database/tenant-tables.js';
import { shareOf } from '../../support/share-of.js';

/** Variants of a path that have bypassed middleware of other frameworks. */
const DISGUISES: Readonly<Record<string, (path: string) => string>> = {
  'a letter escaped': (path) => path.replace('/api', '/%61pi'),
  'a letter of the resource escaped': (path) =>
    path.replace(/v1\/(.)/, (_, letter: string) => `v1/%${letter.charCodeAt(0).toString(16)}`),
  'escaped twice': (path) => path.replace('/api', '/%2561pi'),
  'two slashes': (path) => `/${path}`,
  'two slashes inside': (path) => path.replace('/v1', '//v1'),
  'a slash escaped': (path) => path.replace('/v1', '%2fv1'),
  'a backslash': (path) => path.replace('/v1', '\\v1'),
  'a dot': (path) => path.replace('/v1', '/./v1'),
  'a dot escaped': (path) => path.replace('/v1', '/%2e/v1'),
  'two dots': (path) => `/docs/..${path}`,
  'two dots escaped': (path) => `/docs/%2e%2e${path}`,
  'two dots behind a public page': (path) => `/health/live/../..${path}`,
  'a slash behind': (path) => `${path}/`,
  'upper case': (path) => path.replace(/^\/api\/v1\/[a-z]+/, (start) => start.toUpperCase()),
  'a parameter of the path': (path) => path.replace('/v1', '/v1;v=1'),
  'a parameter at the end': (path) => `${path};.css`,
  'an extension': (path) => `${path}.json`,
  'a NUL': (path) => `${path}%00`,
  'a line end': (path) => `${path}%0a`,
  'a space': (path) => `${path}%20`,
  'a fragment': (path) => `${path}%23`,
  'a tab before': (path) => `/%09${path}`,
  'a letter of full width': (path) => path.replace('/api', '/%EF%BD%81pi'),
  'an overlong escape': (path) => path.replace('/api', '/%C1%A1pi'),
};

/** Headers that override the method, path, host or address of a request. */
const TRICK_HEADERS: Readonly<Record<string, (foreign: Tenant) => string>> = {
  'X-HTTP-Method-Override': () => 'DELETE',
  'X-HTTP-Method': () => 'DELETE',
  'X-Method-Override': () => 'DELETE',
  'X-Original-URL': () => '/openapi.json',
  'X-Original-Method': () => 'DELETE',
  'X-Rewrite-URL': () => '/openapi.json',
  'X-Forwarded-Host': () => 'elsewhere.example',
  'X-Forwarded-Prefix': () => '/elsewhere',
  'X-Forwarded-Proto': () => 'https',
  'X-Forwarded-For': () => '127.0.0.1',
  'X-Forwarded-Uri': () => '/openapi.json',
  'X-Forwarded-Method': () => 'DELETE',
  'X-Forwarded-User': () => 'admin',
  Forwarded: () => 'for=127.0.0.1;host=elsewhere.example',
  'X-Real-IP': () => '127.0.0.1',
  'X-Middleware-Subrequest': () => 'middleware:middleware:middleware:middleware:middleware',
  'X-Organization-Id': ({ id }) => id,
  'X-Tenant-Id': ({ id }) => id,
  'X-Account-Id': ({ id }) => id,
  'X-User-Id': ({ id }) => id,
  'X-API-Key': ({ key }) => key.key,
  Cookie: ({ id, key }) => `organization_id=${id}; api_key=${key.key}`,
};

let app: TestApp;
let tenant: Tenant;
let foreign: Tenant;
let scopeless: Tenant;
let tables: readonly string[];

beforeAll(async () => {
  app = await TestApp.start();
  // The publisher of events changes the rows that are read.
  await stopBackgroundWork(app);
  tables = await recordTables(app);
  [tenant, foreign] = await Promise.all([app.organization(), app.organization()]);
  scopeless = await app.key(tenant.id, []);
});
afterAll(() => app.stop());

/** The path of each route to a record of its own, for requests that change no record. */
const paths = new Map<Route, string>();

async function unchangedPath(route: Route): Promise<string> {
  const path = paths.get(route) ?? pathOf(route, await route.makeRecord?.(tenant));
  paths.set(route, path);
  return path;
}

const named = <R extends Route>(routes: readonly R[]) =>
  routes.map((route) => [routeName(route), route] as const);

/** Sends a raw path, which fetch would normalize. */
function sendRaw(method: string, path: string, key?: Tenant, body?: object): Promise<Answer> {
  const headers = ['Host', 'a'];
  if (key) headers.push('Authorization', `Bearer ${key.key.key}`);
  if (body) headers.push('Content-Type', 'application/json', 'Transfer-Encoding', 'chunked');
  const text = body && JSON.stringify(body);
  return rawRequest(app.port, { method, path, headers, body: text });
}

function recordsOf(owner: Tenant): Promise<string> {
  return rowsAsText(app, tables, owner);
}

describe.each(ROUTES.map((route, index) => [routeName(route), route, index] as const))(
  'a variant of the path (bypass of Nest middleware): %s',
  (_, route, index) => {
    it('is a 404, or a 401 without a key', async () => {
      const path = await unchangedPath(route);
      const body = await route.body?.(tenant);
      const before = await recordsOf(tenant);
      for (const [name, disguise] of shareOf(Object.entries(DISGUISES), index, 2)) {
        const answer = await sendRaw(route.method, disguise(path), tenant, body);
        expect({ name, status: answer.status }).toEqual({ name, status: 404 });
        for (const method of [route.method, 'HEAD']) {
          const { status } = await sendRaw(method, disguise(path));
          expect({ name, isRefused: status === 401 || status === 404 }).toEqual({
            name,
            isRefused: true,
          });
        }
      }
      expect(await recordsOf(tenant)).toEqual(before);
    });

    it('requires the key for HEAD and for an absolute URL', async () => {
      const path = await unchangedPath(route);
      const allowed = route.access === 'any-key' ? 200 : 403;
      const targets = [path, `http://elsewhere.example${path}`, `${path}?`];
      for (const target of shareOf(targets, index, 1)) {
        expect(await sendRaw(route.method, target)).toMatchObject({ status: 401 });
        expect(await sendRaw(route.method, target, scopeless)).toMatchObject({ status: allowed });
        if (route.method !== 'GET') continue;
        expect(await sendRaw('HEAD', target)).toMatchObject({ status: 401, body: undefined });
        expect(await sendRaw('HEAD', target, scopeless)).toMatchObject({ status: allowed });
        expect(await sendRaw('GET', target, tenant)).toMatchObject({ status: 200 });
      }
    });
  },
);

describe('headers that claim to override the request', () => {
  const headers = () =>
    Object.fromEntries(
      Object.entries(TRICK_HEADERS).map(([name, value]) => [name, value(foreign)]),
    );

  it.each(named(ROUTES))('do not replace a key: %s', async (_, route) => {
    const path = await unchangedPath(route);
    expectError(await send(app.client(), route, { path }, headers()), 401, 'unauthorized');
  });

  it.each(named(SCOPED_ROUTES))('do not replace a scope: %s', async (_, route) => {
    const path = await unchangedPath(route);
    const answer = await send(scopeless.api, route, { path }, headers());
    expectError(answer, 403, 'insufficient_scope');
  });

  it.each(named(ROUTES.filter(({ method }) => method === 'GET')))(
    'do not change what is read: %s',
    async (_, route) => {
      const path = await unchangedPath(route);
      const plain = await send(tenant.api, route, { path });
      const tricked = await send(tenant.api, route, { path }, headers());
      expect(tricked).toMatchObject({ status: 200, body: plain.body as object });
    },
  );

  it.each(named(ROUTES.filter(({ body }) => body)))(
    'do not change what is written: %s',
    async (_, route) => {
      const path = pathOf(route, await route.makeRecord?.(tenant));
      const before = await recordsOf(foreign);
      const body = await route.body?.(tenant);
      const answer = await send(tenant.api, route, { path, body }, headers());
      // The secret of a webhook is shown once.
      const { secret: _secret, ...record } = dataOf<Record<string, unknown>>(
        answer,
        statusOf(route),
      );
      const { id } = record as { id: string };
      const isCreated = statusOf(route) === 201;
      const created = `${path.replace('/upsert', '')}/${id}`;
      if (isCreated) expect(answer.headers.get('location')).toBe(created);
      expect(await tenant.api.get(isCreated ? created : path.replace('/merge', ''))).toMatchObject({
        status: 200,
        body: { data: record },
      });
      expect(await recordsOf(foreign)).toEqual(before);
    },
  );

  it('change only the address behind a trusted proxy', async () => {
    const behindProxy = await TestApp.start({
      settings: { trustProxy: 1 },
      database: app.database,
    });
    const api = behindProxy.client(tenant.key.key);
    const created = await api.post(LEADS, { first_name: 'Ada' }, { headers: headers() });
    const path = `${LEADS}/${dataOf(created, 201).id}`;
    expect(created.headers.get('location')).toBe(path);
    expect(await tenant.api.get(path)).toMatchObject({ status: 200 });
    expectError(await foreign.api.get(path), 404, 'not_found');
    const stranger = behindProxy.client();
    expectError(await stranger.get(LEADS, { headers: headers() }), 401, 'unauthorized');
    await behindProxy.stop();
  });

  it('do not change the method of a POST', async () => {
    const { id } = await createLead(tenant.api);
    const path = `${LEADS}/${id}`;
    expectError(await tenant.api.post(path, {}, { headers: headers() }), 404, 'not_found');
    expect(await tenant.api.get(path)).toMatchObject({ status: 200 });
  });

  it.each(['_method', '_HttpMethod', 'X-HTTP-Method-Override', 'organization_id', 'api_key'])(
    '%s is an unknown parameter and an unknown field',
    async (name) => {
      const query = `${name}=DELETE`;
      expectInvalid(await tenant.api.get(`${LEADS}?${query}`), name);
      const body = { first_name: 'Ada', [name]: 'DELETE' };
      expectInvalid(await tenant.api.post(`${LEADS}?${query}`, body), name, name);
      const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
      const posted = await tenant.api.post(LEADS, query, { headers: form });
      expect(errorOf(posted).code).toBe('unsupported_media_type');
    },
  );
});
