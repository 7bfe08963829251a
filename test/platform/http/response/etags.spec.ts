import { randomUUID } from 'node:crypto';
import type { Answer } from '../../../../src/testing/api-client.js';
import {
  createLead,
  dataOf,
  expectError,
  expectInvalid,
  LEADS,
} from '../../../../src/testing/factories.js';
import { TestServer } from '../../../../src/testing/test-server.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { shareOf } from '../../../support/share-of.js';
import { routeName, pathOf, RECORD_ROUTES, ROUTES, send } from '../../../../src/testing/routes.js';

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
  tenant = await app.organization();
});

const etagOf = ({ headers }: Answer) => headers.get('etag')!;
const read = RECORD_ROUTES.filter(
  ({ method, pattern }) => method === 'GET' && pattern.endsWith('/:id'),
);
const change = RECORD_ROUTES.filter(({ method }) => method === 'PUT' || method === 'DELETE');
const named = <R extends (typeof ROUTES)[number]>(routes: readonly R[]) =>
  routes.map((route) => [routeName(route), route] as const);

describe.each(named(read))('the ETag of %s (RFC 9110, 8.8.3)', (_, route) => {
  const update = ROUTES.find(
    ({ method, pattern }) => method === 'PUT' && pattern === route.pattern,
  )!;

  it('is strong, the same on every response with a version, and different after a change', async () => {
    const path = pathOf(route, await route.makeRecord(tenant));
    const first = await tenant.api.get(path);
    expect(etagOf(first)).toMatch(/^"[\w-]{43}"$/);
    expect(etagOf(await tenant.api.get(path))).toBe(etagOf(first));
    const body = await update.body!(tenant);
    const updated = await tenant.api.put(path, body);
    expect(etagOf(updated)).not.toBe(etagOf(first));
    expect(etagOf(await tenant.api.get(path))).toBe(etagOf(updated));
    expect(etagOf(await tenant.api.put(path, {}))).toBe(etagOf(updated));
  });

  it('makes a GET with If-None-Match a 304 without a body', async () => {
    const path = pathOf(route, await route.makeRecord(tenant));
    const etag = etagOf(await tenant.api.get(path));
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      for (const method of known === etag ? ['GET', 'HEAD'] : ['GET']) {
        const headers = { 'If-None-Match': known };
        const answer = await tenant.api.request(method, path, { headers });
        expect(answer).toMatchObject({ status: 304, body: undefined });
        expect(etagOf(answer)).toBe(etag);
        expect(answer.headers.get('ratelimit-reset')).toMatch(/^\d+$/);
      }
    }
    for (const other of ['"other"', 'W/"other"', etag.replaceAll('"', '')]) {
      const answer = await tenant.api.get(path, { headers: { 'If-None-Match': other } });
      expect(answer.status).toBe(200);
    }
  });
});

type Tag = readonly [name: string, tag: (etag: string) => string];

/** What matches the version of a record. One parser reads the header for all routes, so they deal the cases. */
const MATCHING: readonly Tag[] = [
  ['the version as it is', (etag) => etag],
  ['one of several', (etag) => `"other" ,${etag}`],
  ['one of several beside its weak form', (etag) => `W/${etag}, ${etag}`],
  ['any', () => '*'],
  ['one of a list with empty elements', (etag) => `, "other",, ${etag},\t,`],
];
const MALFORMED = ['x', '"', '"a" "b"', 'W/x', ',', ' , ,', '"a",x', `"a"${' '.repeat(5_000)}x`];

const changes = named(change).map(([name, route], index) => [name, route, index] as const);

describe.each(changes)('If-Match on %s', (_, route, index) => {
  const withTag = async (tag: (etag: string) => string, id?: string) => {
    const path = pathOf(route, id ?? (await route.makeRecord(tenant)));
    const before = await tenant.api.get(path);
    const etag = id === undefined ? etagOf(before) : '';
    const body = await route.body?.(tenant);
    const answer = await send(tenant.api, route, { path, body }, { 'If-Match': tag(etag) });
    return { answer, before, after: await tenant.api.get(path) };
  };

  it.each(shareOf(MATCHING, index, 2))('changes %s', async (__, tag) => {
    const { answer, before, after } = await withTag(tag);
    expect(answer.status).toBe(200);
    expect(after.body).not.toEqual(before.body);
  });

  it.each<[string, (etag: string) => string]>([
    ['another version', () => '"other"'],
    ['several other versions', () => '"W/", "other"'],
  ])('is 412 for %s and changes nothing', async (__, tag) => {
    const { answer, before, after } = await withTag(tag);
    expectError(answer, 412, 'precondition_failed');
    expect(answer.body).toMatchObject({ error: { message: expect.not.stringContaining('weak') } });
    expect(after.body).toEqual(before.body);
  });

  it.each<[string, (etag: string) => string]>([
    ['the weak form of the version', (etag) => `W/${etag}`],
    ['a weak tag of another version', () => 'W/"other"'],
    ['a list with a weak tag', (etag) => `"other", W/${etag}`],
  ])('is 412 for %s, changes nothing and says why', async (__, tag) => {
    const { answer, before, after } = await withTag(tag);
    expectError(answer, 412, 'precondition_failed');
    const message = expect.stringMatching(
      /weak entity tag .* never matches.* proxy that compresses/,
    );
    expect(answer.body).toMatchObject({ error: { message } });
    expect(after.body).toEqual(before.body);
  });

  it.each(shareOf(MALFORMED, index, 2))('is 400 if malformed: %j', async (tag) => {
    const { answer } = await withTag(() => tag);
    expectInvalid(answer, 'If-Match');
  });

  it('is 404 for an unknown record with any tag', async () => {
    const { answer } = await withTag(() => '"other"', randomUUID());
    expectError(answer, 404, 'not_found');
  });
});

describe('a PUT without changes', () => {
  it('returns the same bytes as a GET', async () => {
    const custom_fields = { c: 1e-7, b: { y: 1, x: [1, 2] } };
    const { id } = await createLead(tenant.api, { custom_fields, tags: ['a'] });
    const [before, after] = [
      await tenant.api.get(`${LEADS}/${id}`),
      await tenant.api.put(`${LEADS}/${id}`, { custom_fields, tags: ['a'] }),
    ];
    for (const name of ['etag', 'content-length']) {
      expect(after.headers.get(name)).toBe(before.headers.get(name));
    }
  });
});

describe('conditional writes', () => {
  it('succeed once for one version, even if they are concurrent', async () => {
    const { id } = await createLead(tenant.api);
    const path = `${LEADS}/${id}`;
    const headers = { 'If-Match': etagOf(await tenant.api.get(path)) };
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => tenant.api.put(path, { company: `C${i}` }, { headers })),
    );
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    for (const lost of answers.filter((answer) => answer !== won[0])) {
      expectError(lost, 412, 'precondition_failed');
    }
    expect(dataOf(await tenant.api.get(path))).toEqual(dataOf(won[0]!));
  });

  it('answer 404 before 412, and 412 before 409', async () => {
    const [mine, other] = await Promise.all([
      createLead(tenant.api),
      createLead(tenant.api, { email: 'taken@example.com' }),
    ]);
    const headers = { 'If-Match': '"other"' };
    const duplicate = { email: other.email };
    const answer = await tenant.api.put(`${LEADS}/${mine.id}`, duplicate, { headers });
    expectError(answer, 412, 'precondition_failed');
    const task = dataOf<{ id: string }>(
      await tenant.api.post('/api/v1/tasks', { title: 'T' }),
      201,
    );
    const contact = { contact_id: randomUUID() };
    const about = await tenant.api.put(`/api/v1/tasks/${task.id}`, contact, { headers });
    expectError(about, 404, 'lead_not_found');
  });
});
