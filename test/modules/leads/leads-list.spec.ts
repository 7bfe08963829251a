import { namesOf as fieldNamesOf } from '../../../src/platform/fields/field.js';
import { LeadListQuery } from '../../../src/modules/leads/lead.dto.js';
import type { ApiClient } from '../../../src/testing/api-client.js';
import {
  buildLead,
  errorOf,
  expectError,
  expectInvalid,
  type LeadRecord,
  LEADS,
} from '../../../src/testing/factories.js';
import {
  firstNames,
  leadListSuite,
  listLeads,
  listPath,
  type ListParameters,
} from '../../support/lead-list-suite.js';

const suite = leadListSuite();
const { organizationWith, setTime } = suite;

describe('the shape of a list', () => {
  it('is an empty page with zero total_pages if there are no leads', async () => {
    const { api } = await suite.app.organization();
    const answer = await api.get(LEADS);
    expect(answer.status).toBe(200);
    expect(answer.body).toStrictEqual({
      data: [],
      meta: { page: 1, limit: 50, total: 0, total_pages: 0 },
    });
  });

  it('has items with exactly the 11 fields of the contract', async () => {
    const { api, leads } = await organizationWith([buildLead()]);
    const lead = leads[0]!;
    const answer = await api.get(LEADS);
    expect(answer.body).toStrictEqual({
      data: [
        {
          id: lead.id,
          first_name: lead.first_name,
          last_name: lead.last_name,
          phone: lead.phone,
          email: lead.email,
          status: lead.status,
          temperature: lead.temperature,
          lead_score: lead.lead_score,
          company: lead.company,
          created_at: lead.created_at,
          updated_at: lead.updated_at,
        },
      ],
      meta: { page: 1, limit: 50, total: 1, total_pages: 1 },
    });
  });

  it('has null for unset fields', async () => {
    const { api } = await organizationWith([{}]);
    expect((await listLeads(api)).data).toMatchObject([
      { last_name: null, phone: null, email: null, status: null, temperature: null, company: null },
    ]);
  });

  it('contains only leads of the organization of the key', async () => {
    const mine = await organizationWith([{ first_name: 'Mine' }]);
    const theirs = await organizationWith([{ first_name: 'Theirs' }, { first_name: 'Theirs' }]);
    expect(await firstNames(mine.api, {})).toEqual(['Mine']);
    expect(await firstNames(theirs.api, {})).toEqual(['Theirs', 'Theirs']);
    expect(await firstNames(mine.api, { search: 'theirs' })).toEqual([]);
  });

  it('requires leads:read', async () => {
    const { api } = await suite.app.organization({ scopes: ['leads:write'] });
    expectError(await api.get(LEADS), 403, 'insufficient_scope');
  });
});

describe('pages', () => {
  let api: ApiClient;
  beforeAll(async () => {
    const bodies = Array.from({ length: 101 }, (_, index) => ({ first_name: `Lead ${index}` }));
    ({ api } = await organizationWith(bodies));
  });

  it.each([
    [{}, 50, { page: 1, limit: 50, total: 101, total_pages: 3 }],
    [{ page: 3 }, 1, { page: 3, limit: 50, total: 101, total_pages: 3 }],
    [{ limit: 100 }, 100, { page: 1, limit: 100, total: 101, total_pages: 2 }],
    [{ limit: 100, page: 2 }, 1, { page: 2, limit: 100, total: 101, total_pages: 2 }],
    [{ limit: 1, page: 101 }, 1, { page: 101, limit: 1, total: 101, total_pages: 101 }],
    [{ page: 4 }, 0, { page: 4, limit: 50, total: 101, total_pages: 3 }],
    [{ page: 1e13 }, 0, { page: 1e13, limit: 50, total: 101, total_pages: 3 }],
    [{ search: 'nobody' }, 0, { page: 1, limit: 50, total: 0, total_pages: 0 }],
    [{ search: 'nobody', page: 9 }, 0, { page: 9, limit: 50, total: 0, total_pages: 0 }],
  ])('for %j, contain %d leads and the matching meta', async (query, count, meta) => {
    const page = await listLeads(api, query);
    expect(page.data).toHaveLength(count);
    expect(page.meta).toStrictEqual(meta);
  });

  it('count only the leads that match the filters', async () => {
    const { data, meta } = await listLeads(api, { search: 'lead 1', limit: 5, page: 3 });
    expect(data).toHaveLength(2);
    expect(meta).toEqual({ page: 3, limit: 5, total: 12, total_pages: 3 });
  });
});

describe('invalid parameters are rejected', () => {
  let api: ApiClient;
  beforeAll(async () => {
    ({ api } = await suite.app.organization());
  });

  const NO_INTEGERS = [
    '0',
    '-1',
    '1.5',
    '1e2',
    '0x10',
    '+5',
    ' 5',
    '5 ',
    '05',
    '',
    'ten',
    'NaN',
    '١',
  ];
  const NO_DATES = [
    '2026-02-30',
    '2026-01-01T24:00:00Z',
    '2026-01-01T10:00:60Z',
    '2026-01-01T10:00:00+25:00',
    '0000-01-01',
    '10000-01-01',
    '+275760-09-13T00:00:00Z',
    '2026-W01-1',
    '1763683200',
    '1763683200000',
    'infinity',
    'now',
    'yesterday',
    `2026-01-01T00:00:00.${'0'.repeat(40)}Z`,
  ];

  it.each<[string, string]>([
    ...[...NO_INTEGERS, '101', '9e15', '9'.repeat(30)].map((v): [string, string] => ['limit', v]),
    ...[...NO_INTEGERS, '9e15', '1e30', '9'.repeat(30), '9007199254740993'].map(
      (v): [string, string] => ['page', v],
    ),
    ...['id', 'email', 'deleted_at', 'First_name', 'created_at desc', 'lead_score,id', '1', ''].map(
      (v): [string, string] => ['sort_by', v],
    ),
    ...['ASC', 'up', '', 'asc nulls first', 'asc;select 1'].map((v): [string, string] => [
      'sort_dir',
      v,
    ]),
    ...['Hot', 'boiling', 'cold,hot', 'null'].map((v): [string, string] => ['temperature', v]),
    ...['x'.repeat(51), '😀'.repeat(51), 'a\0'].map((v): [string, string] => ['status', v]),
    ...['x'.repeat(101), '😀'.repeat(101), 'a\0'].map((v): [string, string] => ['search', v]),
    ...NO_DATES.flatMap((v): [string, string][] => [
      ['created_after', v],
      ['created_before', v],
    ]),
  ])('%s=%j', async (name, value) => {
    expectInvalid(await api.get(listPath({ [name]: value })), name);
  });

  it.each(['search', 'status', 'temperature', 'created_after', 'created_before'])(
    'except an empty %s, which is ignored',
    async (name) => {
      const { body } = await api.get(`${LEADS}?${name}=&limit=3`);
      expect(body).toEqual((await api.get(`${LEADS}?limit=3`)).body);
      const blank = await api.get(`${LEADS}?${name}=%20&limit=3`);
      expect(blank.body).toEqual(body);
    },
  );

  it('with the names of all parameters if one is unknown', async () => {
    const answer = await api.get(`${LEADS}?q=ada&Page=2`);
    expectInvalid(answer, 'q', 'Page');
    const names = fieldNamesOf(LeadListQuery).join(', ');
    expect(errorOf(answer).message).toBe(
      `q is unknown; the parameters are ${names}; Page is unknown.`,
    );
  });

  it.each(['+02:00', '+0200', '+02'])(
    'with a hint to encode the + of the offset %s',
    async (offset) => {
      const answer = await api.get(`${LEADS}?created_after=2026-01-01T09:00:00${offset}`);
      expectInvalid(answer, 'created_after');
      expect(errorOf(answer).message).toContain('%2B');
      expect(errorOf(await api.get(`${LEADS}?created_after=2026`)).message).not.toContain('%2B');
    },
  );

  it('as query if the parameter has no name', async () => {
    expectInvalid(await api.get(`${LEADS}?=1`), 'query');
  });

  it.each([
    'q',
    'Page',
    'page[]',
    'page[$gt]',
    'filter[status]',
    'status.eq',
    'organization_id',
    'source',
    'offset',
    '__proto__',
    '__proto__[x]',
    'constructor',
    'hasOwnProperty',
  ])('unknown: %s', async (name) => {
    expectInvalid(await api.get(listPath({ [name]: 1 })), name);
  });

  it.each(['page=1&page=2', 'limit=5&limit=5', 'search=a&page=1&search=b', 'status=a&st%61tus=a'])(
    'repeated: %s',
    async (query) => {
      const repeated = query.split('=')[0]!;
      expectInvalid(await api.get(`${LEADS}?${query}`), repeated);
    },
  );

  it.each(['status=%ff', 'status=%', 'status=%zz', 'search=%ed%a0%80'])(
    'not UTF-8: %s',
    async (query) => {
      expectInvalid(await api.get(`${LEADS}?${query}`), query.split('=')[0]!);
    },
  );

  it('with the names of all invalid parameters', async () => {
    const query = 'page=0&limit=101&sort_by=id&sort_dir=up&temperature=x&created_after=x&foo=1';
    expectInvalid(
      await api.get(`${LEADS}?${query}`),
      ...['page', 'limit', 'sort_by', 'sort_dir', 'temperature', 'created_after', 'foo'],
    );
  });
});

describe('order', () => {
  const SORTS = ['created_at', 'updated_at', 'first_name', 'last_name', 'lead_score'] as const;
  type Sort = (typeof SORTS)[number];

  let api: ApiClient;
  let stored: LeadRecord[];

  // 66 leads with few distinct values of each key, so that most leads are sorted by id.
  beforeAll(async () => {
    const bodies = Array.from({ length: 66 }, (_, index) => ({
      first_name: ['Ada', 'Bea', 'Cleo'][index % 3],
      last_name: ['Zola', null, 'Young', null, 'Xu'][index % 5],
      temperature: ['hot', 'warm', null][(index % 7) % 3],
    }));
    const created = await organizationWith(bodies);
    ({ api } = created);
    for (const [index, lead] of created.leads.entries()) {
      await setTime(lead, 'created_at', `2026-01-0${(index % 4) + 1}T00:00:00Z`);
      await setTime(lead, 'updated_at', `2026-02-0${(index % 6) + 1}T00:00:00Z`);
    }
    stored = await walk({ limit: 100 });
    expect(stored).toHaveLength(66);
  });

  async function walk(query: ListParameters): Promise<LeadRecord[]> {
    const leads: LeadRecord[] = [];
    for (let page = 1, pages = 1; page <= pages; page++) {
      const { data, meta } = await listLeads(api, { ...query, page });
      leads.push(...data);
      pages = meta.total_pages;
    }
    return leads;
  }

  /** Returns the order that the contract defines. */
  function expected(sort: Sort, direction: 'asc' | 'desc'): string[] {
    const sign = direction === 'asc' ? 1 : -1;
    const compare = <T>(a: T, b: T) => (a < b ? -sign : a > b ? sign : 0);
    const inOrder = [...stored].sort((a, b) => {
      const [x, y] = [a[sort], b[sort]];
      if (x !== y && x === null) return 1;
      if (x !== y && y === null) return -1;
      return compare(x!, y!) || compare(a.id, b.id);
    });
    return inOrder.map((lead) => lead.id);
  }

  it.each(SORTS.flatMap((sort) => [[sort, 'asc'] as const, [sort, 'desc'] as const]))(
    'is by %s %s with nulls last, then by id in the same direction, across pages',
    async (sort_by, sort_dir) => {
      const walked = await walk({ sort_by, sort_dir, limit: 7 });
      expect(walked.map((lead) => lead.id)).toEqual(expected(sort_by, sort_dir));
    },
  );

  it('is created_at desc by default', async () => {
    const ids = (await walk({ limit: 20 })).map((lead) => lead.id);
    expect(ids).toEqual(expected('created_at', 'desc'));
    const ascending = (await walk({ limit: 20, sort_dir: 'asc' })).map((lead) => lead.id);
    expect(ascending).toEqual(expected('created_at', 'asc'));
    const byName = (await walk({ limit: 20, sort_by: 'last_name' })).map((lead) => lead.id);
    expect(byName).toEqual(expected('last_name', 'desc'));
  });

  it.each(SORTS)('is by %s with filters and a search too', async (sort_by) => {
    const query = { sort_by, limit: 3, temperature: 'hot', search: 'e' };
    const inside = new Set((await walk({ ...query, limit: 100 })).map((lead) => lead.id));
    expect(inside.size).toBeGreaterThan(6);
    const walked = await walk(query);
    expect(walked.map((lead) => lead.id)).toEqual(
      expected(sort_by, 'desc').filter((id) => inside.has(id)),
    );
  });

  it('is by the new updated_at after updates', async () => {
    const { api: other, leads } = await organizationWith([{}, {}, {}]);
    await other.put(`${LEADS}/${leads[1]!.id}`, { city: 'Paris' });
    const { data } = await listLeads(other, { sort_by: 'updated_at' });
    expect(data[0]!.id).toBe(leads[1]!.id);
  });
});
