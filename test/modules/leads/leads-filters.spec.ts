import type { ApiClient } from '../../../src/testing/api-client.js';
import { createLead, expectInvalid, LEADS, updateLead } from '../../../src/testing/factories.js';
import {
  firstNames,
  leadListSuite,
  type LeadPage,
  listLeads,
} from '../../support/lead-list-suite.js';

const { organizationWith, setTime } = leadListSuite();

describe('filters', () => {
  it('match status exactly', async () => {
    const statuses = ['new', 'New', ' new ', 'newer', 'renew', 'né', '100%', 'a_b', 'axb', null];
    const { api } = await organizationWith(
      statuses.map((status, index) => ({ first_name: `${index} ${status}`, status })),
    );
    expect(await firstNames(api, { status: 'new' })).toEqual(['0 new', '2  new']);
    expect(await firstNames(api, { status: ' new\t' })).toEqual(['0 new', '2  new']);
    expect(await firstNames(api, { status: 'New' })).toEqual(['1 New']);
    expect(await firstNames(api, { status: 'né' })).toEqual(['5 né']);
    expect(await firstNames(api, { status: '100%' })).toEqual(['6 100%']);
    expect(await firstNames(api, { status: 'a_b' })).toEqual(['7 a_b']);
    expect(await firstNames(api, { status: 'null' })).toEqual([]);
    expect(await firstNames(api, { status: '%' })).toEqual([]);
  });

  it('accept a status of the maximum length', async () => {
    const status = '😀'.repeat(50);
    const { api } = await organizationWith([{ status }]);
    expect(await firstNames(api, { status })).toEqual(['Ada']);
  });

  it('match external_id exactly', async () => {
    const ids = ['crm-1', 'CRM-1', 'crm-10', 'André', 'Andre\u0301', '100%', null];
    const { api, leads } = await organizationWith(
      ids.map((external_id, index) => ({ first_name: `${index}`, external_id })),
    );
    expect(await firstNames(api, { external_id: 'crm-1' })).toEqual(['0']);
    expect(await firstNames(api, { external_id: ' CRM-1\t' })).toEqual(['1']);
    expect(await firstNames(api, { external_id: 'Andre\u0301' })).toEqual(['4']);
    expect(await firstNames(api, { external_id: '100%' })).toEqual(['5']);
    expect(await firstNames(api, { external_id: 'crm' })).toEqual([]);
    expect(await firstNames(api, { external_id: 'crm-10', search: 'crm' })).toEqual([]);
    const { meta } = await listLeads(api, { external_id: 'crm-10' });
    expect(meta).toEqual({ page: 1, limit: 50, total: 1, total_pages: 1 });
    await api.delete(`${LEADS}/${leads[0]!.id}`);
    expect(await firstNames(api, { external_id: 'crm-1' })).toEqual([]);
  });

  it.each(['cold', 'warm', 'hot'])('match the temperature %s', async (temperature) => {
    const { api } = await organizationWith(
      ['cold', 'warm', 'hot', null].map((value) => ({
        first_name: `${value}`,
        temperature: value,
      })),
    );
    expect(await firstNames(api, { temperature })).toEqual([temperature]);
  });

  it('match the source', async () => {
    const sources = ['website', 'referral', undefined];
    const { api } = await organizationWith(
      sources.map((source) => ({ first_name: `${source}`, source })),
    );
    expect(await firstNames(api, { source: 'website' })).toEqual(['website']);
    expect(await firstNames(api, { source: 'api' })).toEqual(['undefined']);
    expect(await firstNames(api, { source: 'import' })).toEqual([]);
    expect(await firstNames(api, { source: 'website', search: 'ref' })).toEqual([]);
    expectInvalid(await api.get(`${LEADS}?source=Website`), 'source');
    expectInvalid(await api.get(`${LEADS}?source=website&source=api`), 'source');
  });

  it('return the leads that match every filter', async () => {
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
    const first = await listLeads(api, { ...query, sort_dir: 'asc' });
    expect(first.data.map((lead) => lead.first_name)).toEqual(['Both 1']);
    expect(first.meta).toEqual({ page: 1, limit: 1, total: 2, total_pages: 2 });
    const second = await listLeads(api, { ...query, sort_dir: 'asc', page: 2 });
    expect(second.data.map((lead) => lead.first_name)).toEqual(['Both 2']);
  });
});

describe('tag', () => {
  const TAGS: Record<string, string[]> = {
    roof: ['roof'],
    both: ['spring', 'roof'],
    spring: ['Spring'],
    longer: ['roofing', 'new roof', 'roof-1'],
    percent: ['100%', 'a_b', 'a\\b', 'x'],
    others: ['дом', '屋根', 'ÉTÉ', 'straße', '😀', 'ΟΔΟΣ'],
    control: ['a\u001fb'],
    none: [],
  };
  let api: ApiClient;
  let ids: Record<string, string>;

  beforeAll(async () => {
    const bodies = Object.entries(TAGS).map(([first_name, tags]) => ({ first_name, tags }));
    const created = await organizationWith(bodies);
    ({ api } = created);
    ids = Object.fromEntries(created.leads.map((lead) => [lead.first_name, lead.id]));
  });

  async function found(...tags: string[]): Promise<string[]> {
    const query = new URLSearchParams(tags.map((tag): [string, string] => ['tag', tag]));
    const { data, meta } = (await api.get(`${LEADS}?${query}`)).body as LeadPage;
    expect(meta.total).toBe(data.length);
    return data.map(({ first_name }) => first_name).sort();
  }

  it.each([
    ['roof', ['both', 'roof']],
    ['ROOF', ['both', 'roof']],
    [' roof\t', ['both', 'roof']],
    ['spring', ['both', 'spring']],
    ['new roof', ['longer']],
    ['new', []],
    ['roo', []],
    ['%', []],
    ['_', []],
    ['100%', ['percent']],
    ['a_b', ['percent']],
    ['axb', []],
    ['a\\b', ['percent']],
    ['x', ['percent']],
    ['дом', ['others']],
    ['ДОМ', ['others']],
    ['屋根', ['others']],
    ['屋', []],
    ['été', ['others']],
    ['ete', []],
    ['STRASSE', []],
    ['straße', ['others']],
    ['😀', ['others']],
    ['οδος', ['others']],
    ['a b', ['control']],
    ['a\u001fb', ['control']],
    ['a', []],
    ['b', []],
    ['\u001f', []],
  ])('%j selects the leads %j', async (tag, names) => {
    expect(await found(tag)).toEqual(names);
  });

  it('can be given several times, and then selects the leads with all of them', async () => {
    expect(await found('roof', 'spring')).toEqual(['both']);
    expect(await found('roof', 'roof')).toEqual(['both', 'roof']);
    expect(await found('roof', 'дом')).toEqual([]);
  });

  it('has no effect if it is empty', async () => {
    expect(await found('')).toHaveLength(Object.keys(TAGS).length);
  });

  it('can be combined with other filters, search, sorts and pages', async () => {
    const { data, meta } = await listLeads(api, {
      ...{ tag: 'roof', source: 'api', search: 'o', sort_by: 'first_name', sort_dir: 'desc' },
      ...{ limit: 1, page: 2 },
    });
    expect(data.map(({ first_name }) => first_name)).toEqual(['both']);
    expect(meta).toEqual({ page: 2, limit: 1, total: 2, total_pages: 2 });
  });

  it('follows updates that set, add and remove tags', async () => {
    const { none } = ids;
    await updateLead(api, none!, { tags: ['Later'] });
    expect(await found('later')).toEqual(['none']);
    await updateLead(api, none!, { add_tags: ['second'], remove_tags: ['Later'] });
    expect(await found('later')).toEqual([]);
    expect(await found('second')).toEqual(['none']);
    await updateLead(api, none!, { company: 'Navy' });
    expect(await found('second')).toEqual(['none']);
    await updateLead(api, none!, { tags: [] });
    expect(await found('second')).toEqual([]);
  });

  it('follows a deletion', async () => {
    const lead = await createLead(api, { tags: ['gone'] });
    expect(await found('gone')).toHaveLength(1);
    await api.delete(`${LEADS}/${lead.id}`);
    expect(await found('gone')).toEqual([]);
  });

  it('accepts 50 tags of 50 characters, and refuses more', async () => {
    const tags = Array.from(
      { length: 50 },
      (_, index) => `${index}`.padStart(2, '0') + 'x'.repeat(48),
    );
    await createLead(api, { tags });
    expect(await found(...tags)).toEqual(['Ada']);
    const query = (list: string[]) => `${LEADS}?${list.map((tag) => `tag=${tag}`).join('&')}`;
    expectInvalid(await api.get(query(Array.from({ length: 51 }, (_, i) => `${i}`))), 'tag');
    expectInvalid(await api.get(query(['x'.repeat(51)])), 'tag');
    expectInvalid(await api.get(`${LEADS}?tag=roof&tag=`), 'tag');
    expectInvalid(await api.get(`${LEADS}?tag=%00`), 'tag');
    expectInvalid(await api.get(`${LEADS}?tags=roof`), 'tags');
  });
});

describe('updated_after (inclusive) and updated_before (exclusive)', () => {
  it('select leads by the time of their last change', async () => {
    const { api, leads } = await organizationWith(['0', '1'].map((first_name) => ({ first_name })));
    for (const [index, lead] of leads.entries()) {
      await setTime(lead, 'updated_at', `2026-03-01T00:00:00.00${index}Z`);
    }
    const at = '2026-03-01T00:00:00.001Z';
    expect(await firstNames(api, { updated_after: at })).toEqual(['1']);
    expect(await firstNames(api, { updated_before: at })).toEqual(['0']);
    expect(await firstNames(api, { updated_after: '2026-03-01', updated_before: at })).toEqual([
      '0',
    ]);
    const { updated_at } = await updateLead(api, leads[0]!.id, { company: 'Navy' });
    expect(await firstNames(api, { updated_after: updated_at })).toEqual(['0']);
    expect(await firstNames(api, { updated_before: updated_at })).toEqual(['1']);
  });
});

describe('created_after (inclusive) and created_before (exclusive)', () => {
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
  ])(
    'for %s, created_after returns %j and created_before returns %j',
    async (at, after, before) => {
      expect((await firstNames(api, { created_after: at })).join('')).toBe(after);
      expect((await firstNames(api, { created_before: at })).join('')).toBe(before);
    },
  );

  it('return each lead in exactly one of several adjacent windows', async () => {
    const edges = [
      '2026-03-01',
      '2026-03-01T00:00:00.0004Z',
      '2026-03-01T00:00:00.001Z',
      '2026-03-02',
    ];
    const found: string[] = [];
    for (const [index, created_after] of edges.slice(0, -1).entries()) {
      found.push(...(await firstNames(api, { created_after, created_before: edges[index + 1]! })));
    }
    expect(found).toEqual(['0', '1', '2']);
  });

  it('return no lead if the window ends at or before its start', async () => {
    const at = '2026-03-01T00:00:00.001Z';
    expect(await firstNames(api, { created_after: at, created_before: at })).toEqual([]);
    expect(await firstNames(api, { created_after: at, created_before: '2020-01-01' })).toEqual([]);
  });

  it("return a lead for created_after with the lead's own created_at", async () => {
    const { api: other, leads } = await organizationWith([{}]);
    const at = leads[0]!.created_at;
    expect(await firstNames(other, { created_after: at })).toHaveLength(1);
    expect(await firstNames(other, { created_before: at })).toHaveLength(0);
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
    const names = await firstNames(api, { search });
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
    ['two spaces between', 'ada  lovelace', ['ada']],
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
    ['two characters of a name with é', 'él', ['ada', 'elan']],
    ['one character beyond ASCII', 'Ж', ['greek']],
    ['É for é in a long term', 'éLAN ÅNG', ['elan']],
    ['é for É', 'élan@example', ['elan']],
    ['ü for Ü', '-ünal', ['elan']],
    ['Greek in another case', 'ΔΈΛ', ['greek']],
    ['Cyrillic in another case', 'жук', ['greek']],
    ['e without its accent', 'elan', ['elan']],
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
    ['text that no lead has', 'nobody', []],
    ['null', 'null', []],
    ['fields that are not searched', 'needle', []],
  ])('finds leads by %s', async (_, term, keys) => {
    expect(await found(term)).toEqual(keys);
  });

  it('counts 100 characters in code points', async () => {
    expect(await found('😀'.repeat(100))).toEqual([]);
  });

  it.each(['\u001f', 'b\u001fb', 'lovelace\u001fcountess', 'm\u001f+1', '18\u001f02'])(
    'never matches across two fields, even with the internal separator: %j',
    async (term) => {
      expect(await found(term)).not.toContain('bob');
      if (term.length > 1) expect(await found(term)).toEqual([]);
    },
  );

  it('reads + as a space and %2B as a plus', async () => {
    expect((await listLeads(api, {})).meta.total).toBe(EVERYONE.length);
    const plus = await api.get(`${LEADS}?search=%2B1+(415)`);
    expect(plus.body).toMatchObject({ data: [{ first_name: 'Ada' }], meta: { total: 1 } });
  });

  it('finds leads by their updated values', async () => {
    const { api: other, leads } = await organizationWith([{ first_name: 'Before' }]);
    await other.put(`${LEADS}/${leads[0]!.id}`, { first_name: 'After', phone: '030-1234' });
    expect(await firstNames(other, { search: 'before' })).toEqual([]);
    expect(await firstNames(other, { search: 'after' })).toEqual(['After']);
    expect(await firstNames(other, { search: '0301234' })).toEqual(['After']);
  });
});
