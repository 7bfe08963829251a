import { namesOf as fieldNamesOf } from '../../src/fields/field.js';
import { LeadListQuery } from '../../src/leads/lead.dto.js';
import type { ApiClient } from '../../src/testing/api-client.js';
import {
  buildLead,
  createLead,
  errorOf,
  expectError,
  expectInvalid,
  type LeadBody,
  type LeadRecord,
  LEADS,
} from '../../src/testing/factories.js';
import { TestServer } from '../../src/testing/test-server.js';

interface LeadPage {
  data: LeadRecord[];
  meta: { page: number; limit: number; total: number; total_pages: number };
}

type Query = Record<string, string | number>;

let app: TestServer;

beforeAll(async () => {
  app = await TestServer.shared();
});

/** An organization of its own that has these leads and no others. */
async function organizationWith(bodies: readonly LeadBody[]) {
  const { api } = await app.organization();
  const leads = await Promise.all(bodies.map((body) => createLead(api, body)));
  return { api, leads };
}

function pathOf(query: Query): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) parameters.append(name, String(value));
  return `${LEADS}?${parameters.toString()}`;
}

async function list(api: ApiClient, query: Query = {}): Promise<LeadPage> {
  const answer = await api.get(pathOf(query));
  expect(answer).toMatchObject({ status: 200 });
  return answer.body as LeadPage;
}

/** The first names of what a query finds, in no particular order. */
async function namesOf(api: ApiClient, query: Query): Promise<string[]> {
  const { data, meta } = await list(api, query);
  expect(meta.total).toBe(data.length);
  return data.map((lead) => lead.first_name).sort();
}

async function setTime(lead: LeadRecord, column: 'created_at' | 'updated_at', time: string) {
  await app.sql(`update leads set ${column} = $1 where id = $2`, [time, lead.id]);
}

describe('the shape of a list', () => {
  it('given no leads, answers an empty page with zero pages', async () => {
    const { api } = await app.organization();
    const answer = await api.get(LEADS);
    expect(answer.status).toBe(200);
    expect(answer.body).toStrictEqual({
      data: [],
      meta: { page: 1, limit: 50, total: 0, total_pages: 0 },
    });
  });

  it('an item has exactly the 11 fields of the contract', async () => {
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

  it('has null for what is unset', async () => {
    const { api } = await organizationWith([{}]);
    expect((await list(api)).data).toMatchObject([
      { last_name: null, phone: null, email: null, status: null, temperature: null, company: null },
    ]);
  });

  it('holds only leads of the organization of the key', async () => {
    const mine = await organizationWith([{ first_name: 'Mine' }]);
    const theirs = await organizationWith([{ first_name: 'Theirs' }, { first_name: 'Theirs' }]);
    expect(await namesOf(mine.api, {})).toEqual(['Mine']);
    expect(await namesOf(theirs.api, {})).toEqual(['Theirs', 'Theirs']);
    expect(await namesOf(mine.api, { search: 'theirs' })).toEqual([]);
  });

  it('needs leads:read', async () => {
    const { api } = await app.organization({ scopes: ['leads:write'] });
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
  ])('given %j, answers %d leads and their meta', async (query, count, meta) => {
    const page = await list(api, query);
    expect(page.data).toHaveLength(count);
    expect(page.meta).toStrictEqual(meta);
  });

  it('counts what the filters leave', async () => {
    const { data, meta } = await list(api, { search: 'lead 1', limit: 5, page: 3 });
    expect(data).toHaveLength(2);
    expect(meta).toEqual({ page: 3, limit: 5, total: 12, total_pages: 3 });
  });
});

describe('parameters that are refused, never clamped', () => {
  let api: ApiClient;
  beforeAll(async () => {
    ({ api } = await app.organization());
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
    expectInvalid(await api.get(pathOf({ [name]: value })), name);
  });

  it.each(['search', 'status', 'temperature', 'created_after', 'created_before'])(
    'given an empty %s, filters nothing by it',
    async (name) => {
      const { body } = await api.get(`${LEADS}?${name}=&limit=3`);
      expect(body).toEqual((await api.get(`${LEADS}?limit=3`)).body);
      const blank = await api.get(`${LEADS}?${name}=%20&limit=3`);
      expect(blank.body).toEqual(body);
    },
  );

  it('given an unknown parameter, answers with the names of those that exist', async () => {
    const answer = await api.get(`${LEADS}?q=ada&Page=2`);
    expectInvalid(answer, 'q', 'Page');
    const names = fieldNamesOf(LeadListQuery).join(', ');
    expect(errorOf(answer).message).toBe(
      `q is unknown; the parameters are ${names}; Page is unknown.`,
    );
  });

  it.each(['+02:00', '+0200', '+02'])(
    'given an offset of %s whose + is not encoded, tells how to write it',
    async (offset) => {
      const answer = await api.get(`${LEADS}?created_after=2026-01-01T09:00:00${offset}`);
      expectInvalid(answer, 'created_after');
      expect(errorOf(answer).message).toContain('%2B');
      expect(errorOf(await api.get(`${LEADS}?created_after=2026`)).message).not.toContain('%2B');
    },
  );

  it('given a parameter without a name, names query', async () => {
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
  ])('%s, which is unknown', async (name) => {
    expectInvalid(await api.get(pathOf({ [name]: 1 })), name);
  });

  it.each(['page=1&page=2', 'limit=5&limit=5', 'search=a&page=1&search=b', 'status=a&st%61tus=a'])(
    '%s, which repeats one',
    async (query) => {
      const repeated = query.split('=')[0]!;
      expectInvalid(await api.get(`${LEADS}?${query}`), repeated);
    },
  );

  it.each(['status=%ff', 'status=%', 'status=%zz', 'search=%ed%a0%80'])(
    '%s, which is no UTF-8',
    async (query) => {
      expectInvalid(await api.get(`${LEADS}?${query}`), query.split('=')[0]!);
    },
  );

  it('names every failing parameter', async () => {
    const query = 'page=0&limit=101&sort_by=id&sort_dir=up&temperature=x&created_after=x&foo=1';
    expectInvalid(
      await api.get(`${LEADS}?${query}`),
      ...['page', 'limit', 'sort_by', 'sort_dir', 'temperature', 'created_after', 'foo'],
    );
  });
});

describe('filters', () => {
  it('status matches exactly', async () => {
    const statuses = ['new', 'New', ' new ', 'newer', 'renew', 'né', '100%', 'a_b', 'axb', null];
    const { api } = await organizationWith(
      statuses.map((status, index) => ({ first_name: `${index} ${status}`, status })),
    );
    expect(await namesOf(api, { status: 'new' })).toEqual(['0 new', '2  new']);
    expect(await namesOf(api, { status: ' new\t' })).toEqual(['0 new', '2  new']);
    expect(await namesOf(api, { status: 'New' })).toEqual(['1 New']);
    expect(await namesOf(api, { status: 'né' })).toEqual(['5 né']);
    expect(await namesOf(api, { status: '100%' })).toEqual(['6 100%']);
    expect(await namesOf(api, { status: 'a_b' })).toEqual(['7 a_b']);
    expect(await namesOf(api, { status: 'null' })).toEqual([]);
    expect(await namesOf(api, { status: '%' })).toEqual([]);
  });

  it('status may have as many characters as a lead may', async () => {
    const status = '😀'.repeat(50);
    const { api } = await organizationWith([{ status }]);
    expect(await namesOf(api, { status })).toEqual(['Ada']);
  });

  it.each(['cold', 'warm', 'hot'])('temperature %s', async (temperature) => {
    const { api } = await organizationWith(
      ['cold', 'warm', 'hot', null].map((value) => ({
        first_name: `${value}`,
        temperature: value,
      })),
    );
    expect(await namesOf(api, { temperature })).toEqual([temperature]);
  });

  it('all together leave what passes each', async () => {
    const match = { status: 'new', temperature: 'hot', last_name: 'Lovelace' };
    const { api, leads } = await organizationWith([
      { ...match, first_name: 'Both 1' },
      { ...match, first_name: 'Both 2' },
      { ...match, first_name: 'Both 3' },
      { ...match, status: 'old' },
      { ...match, temperature: 'cold' },
      { ...match, last_name: 'Byron' },
      { ...match, first_name: 'Deleted' },
    ]);
    await setTime(leads[2]!, 'created_at', '2020-01-01T00:00:00Z');
    await api.delete(`${LEADS}/${leads[6]!.id}`);
    const query = {
      status: 'new',
      temperature: 'hot',
      search: 'love',
      created_after: '2021-01-01',
      created_before: '2999-01-01',
      sort_by: 'first_name',
      limit: 1,
    };
    const first = await list(api, { ...query, sort_dir: 'asc' });
    expect(first.data.map((lead) => lead.first_name)).toEqual(['Both 1']);
    expect(first.meta).toEqual({ page: 1, limit: 1, total: 2, total_pages: 2 });
    const second = await list(api, { ...query, sort_dir: 'asc', page: 2 });
    expect(second.data.map((lead) => lead.first_name)).toEqual(['Both 2']);
  });
});

describe('date filters are half-open', () => {
  let api: ApiClient;
  beforeAll(async () => {
    const names = ['0', '1', '2'];
    const created = await organizationWith(names.map((first_name) => ({ first_name })));
    ({ api } = created);
    for (const [index, lead] of created.leads.entries()) {
      await setTime(lead, 'created_at', `2026-03-01T00:00:00.00${names[index]}Z`);
    }
  });

  it.each([
    ['2026-03-01T00:00:00.000Z', '012', ''],
    ['2026-03-01T00:00:00.0000001Z', '12', '0'],
    ['2026-03-01T00:00:00.0005Z', '12', '0'],
    ['2026-03-01T00:00:00.000999999Z', '12', '0'],
    ['2026-03-01T00:00:00.001Z', '12', '0'],
    ['2026-03-01T00:00:00.001000000Z', '12', '0'],
    ['2026-03-01T00:00:00.0011Z', '2', '01'],
    ['2026-03-01T00:00:00.002Z', '2', '01'],
    ['2026-03-01T00:00:00.0020001Z', '', '012'],
    ['2026-02-28T23:59:59.9999Z', '012', ''],
    ['2026-03-01T05:30:00.001+05:30', '12', '0'],
    ['2026-02-28T19:00:00.001-05:00', '12', '0'],
    ['2026-03-01T00:00:00.001', '12', '0'],
    ['2026-03-01T00:00', '012', ''],
    ['2026-03-01', '012', ''],
    ['2026-03-02', '', '012'],
    ['0001-01-01', '012', ''],
    ['9999-12-31T23:59:59.999Z', '', '012'],
    [' 2026-03-01T00:00:00.001Z ', '12', '0'],
  ])('at %s: created_after keeps %j, created_before keeps %j', async (at, after, before) => {
    expect((await namesOf(api, { created_after: at })).join('')).toBe(after);
    expect((await namesOf(api, { created_before: at })).join('')).toBe(before);
  });

  it('adjacent windows lose and repeat nothing', async () => {
    const edges = [
      '2026-03-01',
      '2026-03-01T00:00:00.0004Z',
      '2026-03-01T00:00:00.001Z',
      '2026-03-02',
    ];
    const found: string[] = [];
    for (const [index, created_after] of edges.slice(0, -1).entries()) {
      found.push(...(await namesOf(api, { created_after, created_before: edges[index + 1]! })));
    }
    expect(found).toEqual(['0', '1', '2']);
  });

  it('a window that ends where or before it begins is empty', async () => {
    const at = '2026-03-01T00:00:00.001Z';
    expect(await namesOf(api, { created_after: at, created_before: at })).toEqual([]);
    expect(await namesOf(api, { created_after: at, created_before: '2020-01-01' })).toEqual([]);
  });

  it('a created_at that was answered finds its lead again by created_after', async () => {
    const { api: other, leads } = await organizationWith([{}]);
    const at = leads[0]!.created_at;
    expect(await namesOf(other, { created_after: at })).toHaveLength(1);
    expect(await namesOf(other, { created_before: at })).toHaveLength(0);
  });
});

describe('order', () => {
  const SORTS = ['created_at', 'updated_at', 'first_name', 'last_name', 'lead_score'] as const;
  type Sort = (typeof SORTS)[number];

  let api: ApiClient;
  let stored: LeadRecord[];

  // 66 leads with few distinct values of each key, so that ids decide almost everywhere.
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

  async function walk(query: Query): Promise<LeadRecord[]> {
    const leads: LeadRecord[] = [];
    for (let page = 1, pages = 1; page <= pages; page++) {
      const { data, meta } = await list(api, { ...query, page });
      leads.push(...data);
      pages = meta.total_pages;
    }
    return leads;
  }

  /** The order that the contract asks for, by definition. */
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
    'by %s %s, nulls last, ties by id in the same direction, no lead lost or repeated over pages',
    async (sort_by, sort_dir) => {
      const walked = await walk({ sort_by, sort_dir, limit: 7 });
      expect(walked.map((lead) => lead.id)).toEqual(expected(sort_by, sort_dir));
    },
  );

  it('is created_at desc unless asked for otherwise', async () => {
    const ids = (await walk({ limit: 20 })).map((lead) => lead.id);
    expect(ids).toEqual(expected('created_at', 'desc'));
    const ascending = (await walk({ limit: 20, sort_dir: 'asc' })).map((lead) => lead.id);
    expect(ascending).toEqual(expected('created_at', 'asc'));
    const byName = (await walk({ limit: 20, sort_by: 'last_name' })).map((lead) => lead.id);
    expect(byName).toEqual(expected('last_name', 'desc'));
  });

  it.each(SORTS)('by %s holds with filters and a search as well', async (sort_by) => {
    const query = { sort_by, limit: 3, temperature: 'hot', search: 'e' };
    const inside = new Set((await walk({ ...query, limit: 100 })).map((lead) => lead.id));
    expect(inside.size).toBeGreaterThan(6);
    const walked = await walk(query);
    expect(walked.map((lead) => lead.id)).toEqual(
      expected(sort_by, 'desc').filter((id) => inside.has(id)),
    );
  });

  it('by updated_at follows changes', async () => {
    const { api: other, leads } = await organizationWith([{}, {}, {}]);
    await other.put(`${LEADS}/${leads[1]!.id}`, { city: 'Paris' });
    const { data } = await list(other, { sort_by: 'updated_at' });
    expect(data[0]!.id).toBe(leads[1]!.id);
  });
});

describe('search', () => {
  const BODIES = {
    ada: {
      first_name: 'Ada',
      last_name: 'Lovelace',
      email: 'countess@Example.com',
      phone: '+1 (415) 555-2671',
    },
    bob: { first_name: 'Bob', email: 'bob@sub.example.org', phone: '020.7946/0018' },
    elan: { first_name: 'Élan', last_name: 'Ångström-Ünal', email: 'ÉLAN@example.net' },
    percent: { first_name: '100% sure', last_name: 'under_score' },
    slash: { first_name: String.raw`back\slash`, last_name: "O'Neil", company: 'Open 24/7-365' },
    plain: { first_name: '100x sure', last_name: 'underXscore' },
    greek: { first_name: 'Δέλτα', last_name: 'ЖУК' },
    emoji: { first_name: '😀 Smile', last_name: '日本語' },
    long: { first_name: 'x'.repeat(100), last_name: 'y'.repeat(100) },
    wide: { first_name: 'Tab\tStop', last_name: 'a\u001fb' },
    other: {
      first_name: 'None',
      company: 'Haystack-Straße Ltd',
      city: 'needle',
      notes: 'needle',
      status: 'needle',
      tags: ['needle'],
      custom_fields: { needle: 'needle' },
    },
    giorgos: { first_name: 'Γιώργος', last_name: 'Παπαδόπουλος', phone: '(628) 555-0143' },
    istanbul: { first_name: 'İpek', last_name: 'E\u0301clair', phone: '+44 20 7946 0123' },
  };
  type Key = keyof typeof BODIES;
  const EVERYONE = Object.keys(BODIES) as Key[];

  let api: ApiClient;
  beforeAll(async () => {
    ({ api } = await organizationWith(Object.values(BODIES)));
  });

  async function found(search: string): Promise<Key[]> {
    const names = await namesOf(api, { search });
    return EVERYONE.filter((key) => names.includes(BODIES[key].first_name));
  }

  it.each<[string, string, Key[]]>([
    ['the first name', 'Ada', ['ada']],
    ['the last name', 'Lovelace', ['ada']],
    ['a part of a name', 'velac', ['ada']],
    ['another case', 'LOVE', ['ada']],
    ['"first last"', 'ada lovelace', ['ada']],
    ['a part across first and last', 'a lo', ['ada']],
    ['"last first"', 'lovelace ada', ['ada']],
    ['a part across last and first', 'ce ad', ['ada']],
    ['"last first" of another case and script', 'ΠΑΠΑΔΌΠΟΥΛΟΣ ΓΙΏΡΓΟΣ', ['giorgos']],
    ['capitals for a final sigma', 'ΓΙΏΡΓΟΣ', ['giorgos']],
    ['another sigma than the final one', 'γιώργοσ', ['giorgos']],
    ['the company', 'haystack', ['other']],
    ['ss for ß', 'HAYSTACK-STRASSE', ['other']],
    ['ẞ for ß', 'haystack-straẞe', ['other']],
    ['i for İ', 'ipek', ['istanbul']],
    ['I for İ', 'IPEK', ['istanbul']],
    ['É in NFC for one that is not', '\u00c9clair', ['istanbul']],
    ['É that is not in NFC for one that is', 'e\u0301lan', ['elan']],
    ['company and last name together', 'ltd none', []],
    ...['+16285550143', '628-555-0143', '628 555 0143', '(628) 555-0143', '1-628-555-0143'].map(
      (phone) => ['a phone in another spelling', phone, ['giorgos']] as [string, string, Key[]],
    ),
    ...['628.555.0143', '6285550143', '+1 (628) 555 01', '555-0143', '28-5550'].map(
      (phone) =>
        ['a part of a phone in another spelling', phone, ['giorgos']] as [string, string, Key[]],
    ),
    ['a phone as its own country dials it', '020 7946 0123', ['istanbul']],
    ['a part of one', '020 7946 01', ['istanbul']],
    ['a phone of another country with 011', '011 44 20 7946 0123', ['istanbul']],
    ['separated digits of the company', '24/7', ['slash']],
    ['separated digits of the company and their end', '7-365', ['slash']],
    ['digits in a row of the company with a separator', '-365', ['slash']],
    ['the start of a phone with a separator', '(628', ['giorgos']],
    ['the start of a phone in another spelling', '+1628', ['giorgos']],
    ['two digits and separators of a phone', '8) 5', ['giorgos']],
    ['digits that no phone has in this order', '0143-555', []],
    ['digits over two spellings of a phone', '0143-628', []],
    ['two spaces between', 'ada  lovelace', []],
    ['the e-mail', 'countess@example.com', ['ada']],
    ['a part of the e-mail in another case', 'TESS@EX', ['ada']],
    ['the phone as given', '(415) 555-2671', ['ada']],
    ['a part of the phone as given', ') 555-2', ['ada']],
    ['the digits of the phone', '14155552671', ['ada']],
    ['a part of its digits', '4155552', ['ada']],
    ['digits over a separator', '794600', ['bob']],
    ['a phone as given with other separators', '020.7946/0018', ['bob']],
    ['space around the term', '  lovelace\t', ['ada']],
    ['one character', 'b', ['bob', 'slash', 'wide']],
    ['two characters', 'ob', ['bob']],
    ['two characters of a name with é', 'él', ['elan']],
    ['one character beyond ASCII', 'å', ['elan']],
    ['É for é in a long term', 'éLAN ÅNG', ['elan']],
    ['é for É', 'élan@example', ['elan']],
    ['ü for Ü', '-ünal', ['elan']],
    ['Greek in another case', 'ΔΈΛ', ['greek']],
    ['Cyrillic in another case', 'жук', ['greek']],
    ['e without its accent', 'elan', []],
    ['an emoji', '😀', ['emoji']],
    ['an emoji and more', '😀 smi', ['emoji']],
    ['ideographs', '本', ['emoji']],
    ['three ideographs', '日本語', ['emoji']],
    ['% alone', '%', ['percent']],
    ['% as itself', '100% s', ['percent']],
    ['_ alone', '_', ['percent']],
    ['_ as itself', 'under_s', ['percent']],
    ['%%% as itself', '%%%', []],
    ['___ as itself', '___', []],
    [String.raw`\ alone`, '\\', ['slash']],
    [String.raw`\ as itself`, String.raw`back\slash`, ['slash']],
    [String.raw`\ at the end`, 'back\\', ['slash']],
    [String.raw`\\ as itself`, String.raw`back\\slash`, []],
    [String.raw`\% as itself`, String.raw`100\% sure`, []],
    ['a quote', "'", ['slash']],
    ['a quote in a name', "o'neil", ['slash']],
    ['SQL', "' or 1=1 --", []],
    ['a regular expression', 'l.*e', []],
    ['a tab', 'tab\tstop', ['wide']],
    ['100 characters', 'x'.repeat(100), ['long']],
    ['100 characters across first and last', `${'x'.repeat(50)} ${'y'.repeat(49)}`, ['long']],
    ['first name and e-mail together', 'Bob bob@', []],
    ['first name and e-mail without space', 'bobbob@', []],
    ['e-mail and phone together', 'sub.example.org020', []],
    ['phone and its digits together', '0018020', []],
    ['nothing that anyone has', 'nobody', []],
    ['null', 'null', []],
    ['fields that it does not look into', 'needle', []],
  ])('by %s', async (_, term, keys) => {
    expect(await found(term)).toEqual(keys);
  });

  it('counts 100 characters in code points', async () => {
    expect(await found('😀'.repeat(100))).toEqual([]);
  });

  it.each(['\u001f', 'b\u001fb', 'lovelace\u001fcountess', 'm\u001f+1', '18\u001f02'])(
    'never spans parts, even by the character that keeps them apart inside: %j',
    async (term) => {
      expect(await found(term)).not.toContain('bob');
      if (term.length > 1) expect(await found(term)).toEqual([]);
    },
  );

  it('reads + as a space and %2B as a plus', async () => {
    expect((await list(api, {})).meta.total).toBe(EVERYONE.length);
    const plus = await api.get(`${LEADS}?search=%2B1+(415)`);
    expect(plus.body).toMatchObject({ data: [{ first_name: 'Ada' }], meta: { total: 1 } });
  });

  it('follows updates', async () => {
    const { api: other, leads } = await organizationWith([{ first_name: 'Before' }]);
    await other.put(`${LEADS}/${leads[0]!.id}`, { first_name: 'After', phone: '030-1234' });
    expect(await namesOf(other, { search: 'before' })).toEqual([]);
    expect(await namesOf(other, { search: 'after' })).toEqual(['After']);
    expect(await namesOf(other, { search: '0301234' })).toEqual(['After']);
  });
});
