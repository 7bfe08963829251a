import { NAMES_COLLATION } from '../../../../src/platform/data/names-collation.js';
import { createLead, LEADS } from '../../../../src/testing/factories.js';
import { urlOf } from '../../../../src/testing/databases.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import type { Tenant } from '../../../../src/testing/test-server.js';
import { latitude } from '../../../support/command-line.js';

const NAMES = [
  ...['Bob', 'Zoe', 'adam', 'Ábel', 'école', 'Adam', 'Ecole', 'Émile', 'emile', 'ægir', 'Zoë'],
  ...['O’Brien', "O'Brien", 'o brien', 'Жук', 'ёлка', 'Γιώργος', '日本', 'かな', 'Łukasz', 'Lucy'],
  ...['ﬁn', 'Straße', 'Strasse', 'x10', 'x9', '!', 'e\u0301cole'],
];

let app: TestApp;
let tenant: Tenant;
beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => app.stop());

interface Page {
  data: { id: string; first_name: string; last_name: string | null }[];
  meta: { total_pages: number };
}

/** All leads in the order of a list, read by pages in both directions. */
async function walk(query: Record<string, string>): Promise<Page['data']> {
  const read = async (page: number) => {
    const parameters = new URLSearchParams({ limit: '7', ...query, page: String(page) });
    const answer = await tenant.api.get(`${LEADS}?${parameters}`);
    expect(answer.status).toBe(200);
    return answer.body as Page;
  };
  const pages: Page[] = [await read(1)];
  for (let page = 2; page <= pages[0]!.meta.total_pages; page++) pages.push(await read(page));
  return pages.flatMap(({ data }) => data);
}

const firstNames = (leads: Page['data']) => leads.map(({ first_name }) => first_name);

describe('a list that is sorted by names', () => {
  it('sorts them as people do, in both directions', async () => {
    for (const first_name of ['Bob', 'Zoe', 'adam', 'Ábel', 'école']) {
      await createLead(tenant.api, { first_name });
    }
    const ascending = ['Ábel', 'adam', 'Bob', 'école', 'Zoe'];
    const query = { sort_by: 'first_name', search: '' };
    expect(firstNames(await walk({ ...query, sort_dir: 'asc' }))).toEqual(ascending);
    expect(firstNames(await walk({ ...query, sort_dir: 'desc' }))).toEqual(ascending.reverse());
  });

  it.each([
    ['first_name', {}],
    ['first_name', { search: 'example.com' }],
    ['last_name', {}],
    ['last_name', { status: 'new', temperature: 'hot' }],
  ])('by %s with the filters %j, has each lead once, in the order of ICU', async (by, filters) => {
    for (const [n, name] of [...NAMES, ...NAMES].entries()) {
      await createLead(tenant.api, {
        first_name: name,
        ...(n % 5 > 0 && { last_name: name }),
        ...{ email: `lead${n}@example.com`, status: 'new', temperature: 'hot' },
      });
    }
    for (const direction of ['asc', 'desc']) {
      const expected = await app.sql(
        `select id from leads where organization_id = $1
         order by ${by} collate "und-x-icu" ${direction} nulls last, id ${direction}`,
        [tenant.id],
      );
      const found = await walk({ ...filters, sort_by: by, sort_dir: direction });
      expect(found.map(({ id }) => ({ id }))).toEqual(expected);
    }
  });

  it('compares names in filters and searches as before', async () => {
    for (const status of ['new', 'New', 'néw']) {
      await createLead(tenant.api, { first_name: status, status });
    }
    expect(firstNames(await walk({ status: 'new', sort_by: 'first_name' }))).toEqual(['new']);
  });
});

describe('another version of ICU', () => {
  const versions = () =>
    app.sql<{ current: boolean; files: string[] }>(
      `select collversion = pg_collation_actual_version(oid) as current,
         array(select relfilenode::text from pg_class
           where relname ~ '^leads_sorted_by_' order by relname) as files
       from pg_collation where collname = $1`,
      [NAMES_COLLATION],
    );
  const migrate = () => latitude({ DATABASE_URL: urlOf(app.database) }, 'migrate');

  it('is found by migrate, which reindexes names', async () => {
    const [before] = await versions();
    expect(before!.files).toHaveLength(3);
    await app.sql(`update pg_collation set collversion = '1' where collname = $1`, [
      NAMES_COLLATION,
    ]);
    await migrate();
    const [after] = await versions();
    expect(after!.current).toBe(true);
    expect(after!.files).toHaveLength(3);
    expect(after!.files.filter((file) => before!.files.includes(file))).toEqual([]);
    await migrate();
    expect(await versions()).toEqual([after]);
  });
});
