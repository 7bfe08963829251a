import { createLead, dataOf, type LeadRecord, LEADS } from '../../../src/testing/factories.js';
import { type Tenant, TestServer } from '../../../src/testing/test-server.js';
import { connectAgent, stopWithAgents } from '../../support/mcp/agent.js';

const BODIES = {
  emile: { first_name: 'Émile', last_name: 'Nguyễn-Ørsted', company: 'Crème  Brûlée\u00a0SARL' },
  brien: { first_name: 'Pat', last_name: 'O’Brien', email: 'plus+tag@example.com' },
  jean: { first_name: 'Jean\u200bLuc', last_name: 'Pi\u00adca\u202crd' },
  lukasz: { first_name: 'Łukasz', last_name: 'Æsir–Weiß', company: 'ＡＣＭＥ　株式会社' },
  greek: { first_name: 'Γιώργος', last_name: 'Фёдоров' },
  kana: { first_name: 'がく', last_name: 'हिन्दी' },
  kaku: { first_name: 'かく', last_name: 'ภาษาไทย' },
  space: { first_name: 'Pete', email: 'tag@example.org', company: 'plus tag@home' },
} as const;
type Key = keyof typeof BODIES;

let server: TestServer;
let tenant: Tenant;
beforeAll(async () => {
  server = await TestServer.shared();
  tenant = await server.organization();
  for (const body of Object.values(BODIES)) await createLead(tenant.api, body);
});
afterAll(() => stopWithAgents(server));

async function found(query: string): Promise<Key[]> {
  const leads = dataOf<LeadRecord[]>(await tenant.api.get(`${LEADS}?${query}`));
  const names = leads.map(({ first_name }) => first_name);
  return (Object.keys(BODIES) as Key[]).filter((key) => names.includes(BODIES[key].first_name));
}

const search = (term: string) => found(new URLSearchParams({ search: term }).toString());

describe('a search ignores', () => {
  it.each<[string, string, Key[]]>([
    ['accents', 'emile nguyen', ['emile']],
    ['accents that only the term has', 'Pät', ['brien']],
    ['accents in decomposed form', 'e\u0301mi\u0301le', ['emile']],
    ['accents of the company', 'creme brulee', ['emile']],
    ['the stroke of a letter', 'orsted', ['emile']],
    ['the stroke of another letter', 'LUKASZ', ['lukasz']],
    ['ligatures', 'aesir', ['lukasz']],
    ['accents in Greek', 'γιωργος', ['greek']],
    ['accents in Cyrillic', 'федоров', ['greek']],
    ['a typographic apostrophe', "o'brien", ['brien']],
    ['another typographic apostrophe', 'Oʼbrien', ['brien']],
    ['a typographic dash', 'aesir-weiss', ['lukasz']],
    ['another typographic dash', 'nguyen‑orsted', ['emile']],
    ['a zero-width space', 'jeanluc', ['jean']],
    ['a zero-width space in the term', 'Em\u200bile', ['emile']],
    ['soft hyphens and bidirectional marks', 'picard', ['jean']],
    ['bidirectional marks around the term', '\u202ejeanluc\u202c', ['jean']],
    ['full width', 'acme', ['lukasz']],
    ['full width of the term', 'ｂｒｉｅｎ', ['brien']],
    ['an ideographic space', 'acme 株式', ['lukasz']],
    ['a no-break space', 'brulee sarl', ['emile']],
    ['repeated spaces of the term', 'creme    brulee', ['emile']],
    ['a tab', 'pat\to', ['brien']],
  ])('%s: %j', async (_, term, keys) => {
    expect(await search(term)).toEqual(keys);
  });
});

describe('a search distinguishes', () => {
  it.each<[string, string, Key[]]>([
    ['voiced kana', 'がく', ['kana']],
    ['unvoiced kana', 'かく', ['kaku']],
    ['Hindi with its vowel signs', 'हिन्दी', ['kana']],
    ['Hindi without them', 'हनद', []],
    ['Thai without its vowel signs', 'ภษไทย', []],
    ['a space and none', 'jean luc', []],
    ['a dash and none', 'nguyenorsted', []],
  ])('%s: %j', async (_, term, keys) => {
    expect(await search(term)).toEqual(keys);
  });
});

describe('a plus that is not encoded', () => {
  it.each<[string, Key[]]>([
    ['search=plus+tag@example.com', ['brien']],
    ['search=plus+tag@', ['brien', 'space']],
    ['search=PLUS+TAG%40example.com', ['brien']],
    ['search=plus%2Btag@example.com', ['brien']],
    ['search=plus+tag@home', ['space']],
    ['search=plus+tag', ['space']],
    ['search=a+plus+tag@example.com', []],
  ])('is found in an address: %s', async (query, keys) => {
    expect(await found(query)).toEqual(keys);
  });
});

describe('the stored text', () => {
  it('is returned as it was given', async () => {
    const leads = dataOf<LeadRecord[]>(await tenant.api.get(`${LEADS}?search=jeanluc`));
    expect(leads).toMatchObject([{ first_name: 'Jean\u200bLuc', last_name: 'Pi\u00adca\u202crd' }]);
  });

  it('is found by tools in the same way', async () => {
    const agent = await connectAgent(server, tenant, 'sessions');
    const { structuredContent } = await agent.call('list_leads', { search: "o'brien" });
    expect(structuredContent).toMatchObject({ data: [{ last_name: 'O’Brien' }] });
  });
});
