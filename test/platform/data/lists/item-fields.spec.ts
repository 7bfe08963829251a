import { createLead, dataOf, expectInvalid, LEADS } from '../../../../src/testing/factories.js';
import { LIST_ROUTES } from '../../../../src/testing/routes.js';
import { type Tenant, TestServer } from '../../../../src/testing/test-server.js';

type Item = Record<string, unknown>;

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

async function items(path: string, query: string): Promise<Item[]> {
  return dataOf(await tenant.api.get(`${path}?${query}`));
}

describe.each(LISTS)('fields of %s', (path) => {
  const { listed } = LIST_ROUTES.find(({ pattern }) => pattern === path)!;
  let record: Item;

  beforeEach(async () => {
    const id = await listed(tenant);
    record = dataOf(await tenant.api.get(`${path}/${id}`));
  });

  it('are all fields of the record with *', async () => {
    expect(await items(path, 'fields=*')).toEqual([record]);
    expect(await items(path, 'fields=%20*%20')).toEqual([record]);
  });

  it('are those that the parameter names, and id', async () => {
    const { id, created_at, updated_at } = record;
    expect(await items(path, 'fields=updated_at')).toEqual([{ id, updated_at }]);
    expect(await items(path, 'fields=updated_at,%20created_at,updated_at,id')).toEqual([
      { id, created_at, updated_at },
    ]);
  });

  it('can be any field of the record', async () => {
    const names = Object.keys(record);
    for (let start = 0; start < names.length; start += 4) {
      const some = names.slice(start, start + 4);
      const shown = Object.fromEntries(some.map((name) => [name, record[name]]));
      const [item] = await items(path, `fields=${some.join()}`);
      expect(item).toEqual({ id: record.id, ...shown });
    }
  });

  it('do not change which records a page has, their order or the totals', async () => {
    const others = [await listed(tenant), await listed(tenant)];
    const query = 'fields=created_at&limit=2&sort_by=created_at&sort_dir=desc';
    const { body } = await tenant.api.get(`${path}?${query}`);
    const { data, meta } = body as { data: Item[]; meta: unknown };
    expect(data.map(({ id }) => id)).toEqual(others.toReversed());
    expect(meta).toEqual({ page: 1, limit: 2, total: 3, total_pages: 2 });
    const second = await items(path, `${query}&page=2`);
    expect(second.map(({ id }) => id)).toEqual([record.id]);
  });

  it('without a value are those of every list', async () => {
    expect(await items(path, 'fields=')).toEqual(await items(path, ''));
  });

  it.each([
    'nickname',
    'id,nickname',
    'nickname,id',
    'ID',
    'organization',
    'deleted_at',
    '*,nickname',
  ])('are refused if one is unknown: %s', async (fields) => {
    const answer = await tenant.api.get(`${path}?fields=${fields}`);
    expectInvalid(answer, 'fields');
    const unknown = fields.split(',').find((name) => name !== 'id')!;
    expect(answer.body).toMatchObject({
      error: { message: expect.stringContaining(`there is no ${unknown}`) as string },
    });
  });

  it.each(['id,', ',id', 'id,,id', ',', '*,*', 'fields=id&fields=id'])(
    'are refused in another form: %.30s',
    async (fields) => {
      const query = fields.startsWith('fields') ? fields : `fields=${fields}`;
      expectInvalid(await tenant.api.get(`${path}?${query}`), 'fields');
    },
  );
});

describe('fields of leads', () => {
  it('can be combined with a search, filters and every sort', async () => {
    const wanted = await createLead(tenant.api, { last_name: 'Hopper', status: 'new' });
    await createLead(tenant.api, { last_name: 'Byron', status: 'new' });
    for (const sort of ['created_at', 'updated_at', 'first_name', 'last_name', 'lead_score']) {
      const query = `search=hopper&status=new&sort_by=${sort}&fields=source`;
      expect(await items(LEADS, query)).toEqual([{ id: wanted.id, source: 'api' }]);
    }
  });

  it('have times with milliseconds, and null for a value that is missing', async () => {
    const lead = await createLead(tenant.api);
    await app.sql(`update leads set created_at = '2026-01-05T16:20:00.100Z' where id = $1`, [
      lead.id,
    ]);
    expect(await items(LEADS, 'fields=email,created_at')).toEqual([
      { id: lead.id, email: null, created_at: '2026-01-05T16:20:00.100Z' },
    ]);
  });
});
