import { createLead, dataOf, expectInvalid, LEADS } from '../../../../src/testing/factories.js';
import { LIST_ROUTES } from '../../../../src/testing/routes.js';
import { type Tenant, TestServer } from '../../../../src/testing/test-server.js';
import { shareOf } from '../../../support/share-of.js';
import { idsByCursor, pageAfter, type PageByCursor } from '../../../support/by-cursor.js';

/** The lists that can be read by cursor. */
const LISTS = ['/api/v1/leads', '/api/v1/appointments', '/api/v1/tasks'];

let app: TestServer;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestServer.shared();
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => app.stop());

/** Creates records that the list at a path has, and returns their ids. */
async function create(path: string, count: number): Promise<string[]> {
  const { listed } = LIST_ROUTES.find((route) => route.pattern === path)!;
  const ids: string[] = [];
  while (ids.length < count) ids.push(await listed(tenant));
  return ids;
}

/** Gives the records the same time of creation, in their order or in that of their ids. */
async function setCreatedAt(path: string, ids: readonly string[], time = '2026-01-05') {
  const table = path.split('/').at(-1)!;
  await app.sql(`update ${table} set created_at = $1 where id = any($2)`, [time, ids]);
}

/** What is no cursor. The lists deal these cases out, because one function reads the cursor for all. */
const NO_CURSORS = [
  'x',
  '1',
  '1_',
  '_00000000-0000-4000-8000-000000000000',
  '1_x',
  '00000000-0000-4000-8000-000000000000',
  '1.5_00000000-0000-4000-8000-000000000000',
  '999999999999999_00000000-0000-4000-8000-000000000000',
  '-999999999999999_00000000-0000-4000-8000-000000000000',
  '1e9_00000000-0000-4000-8000-000000000000',
  '1_00000000-0000-4000-8000-000000000000_',
  "1_00000000-0000-4000-8000-00000000000'",
  'latest',
  'a'.repeat(101),
];

describe.each(LISTS.map((path, index) => [path, index] as const))('%s by cursor', (path, index) => {
  it('returns each record once, the oldest first, and no totals', async () => {
    const ids = await create(path, 5);
    const first = await pageAfter(tenant.api, path, '', { limit: '2' });
    expect(first.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    expect(first.meta).toEqual({ next: expect.any(String) as string, has_more: true });
    expect(await idsByCursor(tenant.api, path, { limit: '2' })).toEqual(ids);
    expect(await idsByCursor(tenant.api, path)).toEqual(ids);
  });

  it('orders records of the same time by id', async () => {
    const ids = await create(path, 5);
    await setCreatedAt(path, ids);
    expect(await idsByCursor(tenant.api, path, { limit: '2' })).toEqual(ids.toSorted());
  });

  it('has no more after the last record, and continues there when there are others', async () => {
    const ids = await create(path, 2);
    const { data, meta } = await pageAfter(tenant.api, path, '', { limit: '2' });
    expect({ ids: data.map(({ id }) => id), more: meta.has_more }).toEqual({ ids, more: false });
    const empty = await pageAfter(tenant.api, path, meta.next);
    expect(empty).toEqual({ data: [], meta: { next: meta.next, has_more: false } });
    const later = await create(path, 1);
    expect(await idsByCursor(tenant.api, path, {}, meta.next)).toEqual(later);
  });

  it('of an empty list is an empty page, from which a reader continues', async () => {
    const { data, meta } = await pageAfter(tenant.api, path);
    expect({ data, meta }).toEqual({ data: [], meta: { next: '', has_more: false } });
    const ids = await create(path, 1);
    expect(await idsByCursor(tenant.api, path, {}, meta.next)).toEqual(ids);
  });

  it('neither repeats nor omits a record when others are created and deleted meanwhile', async () => {
    const ids = await create(path, 6);
    const { meta } = await pageAfter(tenant.api, path, '', { limit: '2' });
    await app.sql(`delete from ${path.split('/').at(-1)} where id = any($1)`, [
      [ids[0], ids[1], ids[3]],
    ]);
    const created = await create(path, 1);
    const rest = await idsByCursor(tenant.api, path, { limit: '2' }, meta.next);
    expect(rest).toEqual([ids[2], ids[4], ids[5], ...created]);
  });

  it('does not show records of other organizations', async () => {
    const [id] = await create(path, 1);
    const { meta } = await pageAfter(tenant.api, path, '');
    const { api } = await app.organization();
    expect(await idsByCursor(api, path)).toEqual([]);
    await setCreatedAt(path, [id!], '2999-01-01');
    expect(await idsByCursor(api, path, {}, meta.next)).toEqual([]);
  });

  it.each([
    ['page=1', 'page'],
    ['page=2', 'page'],
    ['sort_by=updated_at', 'sort_by'],
    ['sort_dir=desc', 'sort_dir'],
    ['page=1&sort_by=updated_at&sort_dir=desc', 'page', 'sort_by', 'sort_dir'],
  ])('refuses %s, which it names', async (query, ...fields) => {
    for (const after of ['', '0_00000000-0000-4000-8000-000000000000']) {
      expectInvalid(await tenant.api.get(`${path}?after=${after}&${query}`), ...fields);
    }
  });

  it('reads the newest first with before, each record once', async () => {
    const ids = await create(path, 5);
    await setCreatedAt(path, ids.slice(3));
    const newest = [...ids.slice(0, 3).reverse(), ...ids.slice(3).toSorted().reverse()];
    const read = async (before: string): Promise<string[]> => {
      const { body } = await tenant.api.get(`${path}?before=${before}&limit=2&sort_dir=desc`);
      const { data, meta } = body as PageByCursor;
      const page = data.map(({ id }) => id);
      expect(Object.keys(meta)).toEqual(['next', 'has_more']);
      await create(path, 1);
      return meta.has_more ? [...page, ...(await read(meta.next))] : page;
    };
    expect(await read('')).toEqual(newest);
    const empty = await tenant.api.get(`${path}?before=0_00000000-0000-4000-8000-000000000000`);
    expect(empty.body).toMatchObject({ data: [], meta: { has_more: false } });
  });

  it.each([
    ['before=&after=', 'before'],
    ['before=&page=1', 'page'],
    ['before=&sort_by=updated_at', 'sort_by'],
    ['before=&sort_dir=asc', 'sort_dir'],
    ['before=x', 'before'],
  ])('refuses %s, which it names', async (query, field) => {
    expectInvalid(await tenant.api.get(`${path}?${query}`), field);
  });

  it('accepts the order that it has', async () => {
    const ids = await create(path, 2);
    const query = { sort_by: 'created_at', sort_dir: 'asc' };
    expect(await idsByCursor(tenant.api, path, query)).toEqual(ids);
  });

  it.each(shareOf(NO_CURSORS, index, 5))('refuses the cursor %s', async (after) => {
    expectInvalid(await tenant.api.get(`${path}?after=${encodeURIComponent(after)}`), 'after');
    expectInvalid(await tenant.api.get(`${path}?after=${after}&after=`), 'after');
  });

  it.each(['-62135596800000', '253402300799999', '-1', '0'])(
    'accepts a cursor of any time, such as %s',
    async (ms) => {
      const ids = await create(path, 1);
      const found = await idsByCursor(
        tenant.api,
        path,
        {},
        `${ms}_ffffffff-ffff-4fff-8fff-ffffffffffff`,
      );
      expect(found).toEqual(Number(ms) > Date.now() ? [] : ids);
    },
  );
});

describe('a list that is read by page numbers', () => {
  it.each(LISTS)('%s has totals as before', async (path) => {
    await create(path, 1);
    const { body } = await tenant.api.get(path);
    expect(body).toMatchObject({ meta: { page: 1, limit: 50, total: 1, total_pages: 1 } });
  });

  it('has no cursor if it is no list of records', async () => {
    expectInvalid(await tenant.api.get('/api/v1/webhooks?after='), 'after');
    expectInvalid(await tenant.api.get('/api/v1/webhooks?fields=id'), 'fields');
  });
});

describe('leads by cursor', () => {
  it('match filters, search and tags', async () => {
    const leads = [];
    for (const tags of [['roof'], [], ['roof', 'spring'], ['roof']]) {
      leads.push(await createLead(tenant.api, { status: 'new', last_name: 'Hopper', tags }));
    }
    await createLead(tenant.api, { status: 'old', last_name: 'Hopper', tags: ['roof'] });
    const query = { status: 'new', search: 'hopper', tag: 'roof', limit: '1' };
    const ids = leads.filter(({ tags }) => tags.includes('roof')).map(({ id }) => id);
    expect(await idsByCursor(tenant.api, LEADS, query)).toEqual(ids);
  });

  it('include one that is created at an earlier time than the cursor only if it is after it', async () => {
    const ids = await create(LEADS, 2);
    const { meta } = await pageAfter(tenant.api, LEADS);
    const { id } = await createLead(tenant.api);
    await setCreatedAt(LEADS, [id], '2001-01-01');
    expect(await idsByCursor(tenant.api, LEADS, {}, meta.next)).toEqual([]);
    expect(await idsByCursor(tenant.api, LEADS)).toEqual([id, ...ids]);
  });

  it('have the fields of a list, or those that fields names', async () => {
    const lead = await createLead(tenant.api, { tags: ['roof'] });
    const { data } = await pageAfter(tenant.api, LEADS, '', { fields: '*' });
    expect(data).toEqual([dataOf(await tenant.api.get(`${LEADS}/${lead.id}`))]);
    const listed = await pageAfter(tenant.api, LEADS);
    expect(listed.data).toEqual(dataOf(await tenant.api.get(LEADS)));
    const some = await pageAfter(tenant.api, LEADS, '', { fields: 'tags' });
    expect(some.data).toEqual([{ id: lead.id, tags: ['roof'] }]);
  });

  it('answer HEAD like GET', async () => {
    const answer = await tenant.api.request('HEAD', `${LEADS}?after=`);
    expect(answer.status).toBe(200);
  });
});
