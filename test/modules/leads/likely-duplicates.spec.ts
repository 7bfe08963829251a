import { KeysService } from '../../../src/modules/auth/keys.service.js';
import { ContactIdentityService } from '../../../src/modules/leads/contact-identity/contact-identity.service.js';
import { LeadFormsRepository } from '../../../src/modules/leads/duplicates/lead-forms.repository.js';
import { LeadFormsService } from '../../../src/modules/leads/duplicates/lead-forms.service.js';
import { ApiError } from '../../../src/platform/errors/api-error.js';
import {
  createLead,
  dataOf,
  expectInvalid,
  LEADS,
  type LeadBody,
  type LeadRecord,
  updateLead,
} from '../../../src/testing/factories.js';
import { ownerPool } from '../../../src/testing/databases.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { until } from '../../support/servers/product.js';

const DUPLICATES = `${LEADS}/duplicates`;

interface Group {
  leads: LeadRecord[];
  total: number;
  reasons: string[];
}

interface GroupPage {
  data: Group[];
  meta: { next: string; has_more: boolean };
}

let app: TestApp;
let tenant: Tenant;
let api: Tenant['api'];

beforeAll(async () => {
  app = await TestApp.start();
});
afterAll(() => app.stop());
beforeEach(async () => {
  tenant = await app.organization();
  ({ api } = tenant);
});

async function pageOf(query = ''): Promise<GroupPage> {
  const { status, body } = await api.get(`${DUPLICATES}${query}`);
  expect(status).toBe(200);
  return body as GroupPage;
}

/** Reads all groups in pages. */
async function groupsOf(limit = 100): Promise<Group[]> {
  const groups: Group[] = [];
  for (let after = ''; ;) {
    const { data, meta } = await pageOf(`?limit=${limit}&after=${after}`);
    groups.push(...data);
    if (!meta.has_more) return groups;
    after = meta.next;
  }
}

/** Groups by the first names of their leads, with their reasons. */
async function namesOf(limit?: number): Promise<string[]> {
  const groups = await groupsOf(limit);
  const texts = groups.map(({ leads, reasons, total }) => {
    const names = leads.map(({ first_name, last_name }) => last_name ?? first_name).sort();
    return `${names.join('+')} ${total} ${reasons.join()}`;
  });
  return texts.sort();
}

/** Waits until the events so far are handled, and returns the groups. The last event is that of a group of its own. */
async function settled(limit?: number): Promise<string[]> {
  const marker = `marker${Date.now()}${Math.random()}`;
  const markers = ['', '+1'].map((plus) => ({ email: `${marker}${plus}@example.com` }));
  const leads = [];
  for (const lead of markers) leads.push(await createLead(api, { first_name: 'Marker', ...lead }));
  await until(async () => (await namesOf()).includes('Marker+Marker 2 email'));
  for (const { id } of leads) await api.delete(`${LEADS}/${id}`);
  return (await namesOf(limit)).filter((text) => !text.startsWith('Marker'));
}

/** Lets the organization have the forms of its leads kept, without storing any. */
async function begin(): Promise<void> {
  await app.sql('update organizations set finds_duplicates = true where id = $1', [tenant.id]);
}

/** Creates leads whose first names are those of the fields. */
async function create(leads: Readonly<Record<string, LeadBody>>): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  for (const [name, fields] of Object.entries(leads)) {
    const lead = await createLead(api, { first_name: name, ...fields });
    ids[name] = lead.id;
  }
  return ids;
}

describe('reasons', () => {
  it('groups leads by each reason, and not by a near miss', async () => {
    const name = { first_name: 'José', last_name: 'Núñez' };
    await create({
      // E-mail addresses: dots at Gmail, and what follows a plus.
      A1: { email: 'ada.lovelace@gmail.com' },
      A2: { email: 'AdaLovelace+roof@GoogleMail.com' },
      B1: { email: 'grace+a@example.com' },
      B2: { email: 'Grace@EXAMPLE.com' },
      C1: { email: 'dotted.name@example.com' },
      C2: { email: 'dottedname@example.com' },
      C3: { email: '+roof@example.com' },
      C4: { email: '+tile@example.com' },
      // A name alone, a ZIP alone, a company alone.
      D1: { ...name, company: 'One' },
      D2: { ...name, zip: '94607' },
      D3: { ...name, first_name: 'Jose' },
      D4: { zip: '94607', company: 'One' },
      D5: { zip: '94607', company: 'One', last_name: 'Other' },
      // Near misses of phones: another extension, and another country.
      E1: { phone: '+1 415 555 2671 x1' },
      E2: { phone: '+1 415 555 2671 x2' },
      E3: { phone: '+44 415 555 2671' },
    });
    const zips = [
      { first_name: 'JOSE', last_name: 'nunez', zip: 'sw1a 1aa' },
      { first_name: 'José', last_name: 'Núñez', zip: 'SW1A\u00a01AA' },
      { first_name: 'José', last_name: 'Núñez', zip: 'SW1A 1AB' },
    ];
    const companies = [
      { first_name: 'Ada Maria', last_name: 'Lovelace', company: 'O’Brien & Søn' },
      { first_name: 'ada', last_name: 'maria lovelace', company: "o'brien & son" },
      { first_name: 'ada', last_name: 'maria lovelace', company: "o'brien" },
    ];
    for (const lead of [...zips, ...companies]) await createLead(api, lead);
    expect(await settled()).toEqual([
      'A1+A2 2 email',
      'B1+B2 2 email',
      'Lovelace+maria lovelace 2 name_company',
      'Núñez+nunez 2 name_zip',
    ]);
  });

  it('compares phones in the region of the organization', async () => {
    const ids = await create({
      National: { phone: '0664 1234567' },
      International: { phone: '+43 664 1234567' },
      Other: { phone: '+43 664 1234568' },
    });
    expect(await settled()).toEqual([]);
    const change = async (region: string) => {
      await app.app.get(KeysService).updateOrganization(tenant.id, { phone_region: region });
      await app.app.get(ContactIdentityService).normalizeAgain({ tenant }, region);
    };
    await change('AT');
    expect(await namesOf()).toEqual(['International+National 2 phone']);
    await updateLead(api, ids.National!, { company: 'Harbor' });
    expect(await settled()).toEqual(['International+National 2 phone']);
    await change('US');
    expect(await namesOf()).toEqual([]);
  });

  it('shows the fields of an item of a list, and several reasons', async () => {
    const same = { first_name: 'Ada', last_name: 'Lovelace', zip: '94607', company: 'Harbor' };
    await createLead(api, { ...same, email: 'ada@example.com' });
    await createLead(api, { ...same, email: 'ada+1@example.com' });
    await settled();
    const [{ leads, ...group }] = (await groupsOf()) as [Group];
    expect(group).toEqual({ total: 2, reasons: ['email', 'name_zip', 'name_company'] });
    const { body } = await api.get(`${LEADS}?sort_by=created_at&sort_dir=asc`);
    expect(leads).toEqual((body as { data: unknown[] }).data);
  });
});

describe('groups', () => {
  /** A and B have an e-mail address in common, B and C a ZIP, C and D a company. */
  const chain = {
    A: { last_name: 'A', email: 'ada@example.com' },
    B: { last_name: 'Lovelace', email: 'ada+1@example.com', zip: '94607' },
    C: { first_name: 'B', last_name: 'Lovelace', zip: '94607', company: 'Harbor' },
    D: { first_name: 'B', last_name: 'Lovelace', company: 'Harbor' },
  };

  it('has each lead in one group, which a reason connects with the others', async () => {
    const ids = await create(chain);
    expect(await settled()).toEqual(['A+Lovelace+Lovelace+Lovelace 4 email,name_zip,name_company']);
    // A deletion divides the group.
    await api.delete(`${LEADS}/${ids.B}`);
    expect(await settled()).toEqual(['Lovelace+Lovelace 2 name_company']);
    await api.delete(`${LEADS}/${ids.D}`);
    expect(await namesOf()).toEqual([]);
    expect(await settled()).toEqual([]);
  });

  it('follows updates and merges', async () => {
    const ids = await create(chain);
    await updateLead(api, ids.C!, { zip: '94608' });
    expect(await settled()).toEqual(['A+Lovelace 2 email', 'Lovelace+Lovelace 2 name_company']);
    await updateLead(api, ids.C!, { zip: '94607' });
    await updateLead(api, ids.C!, { status: 'new' });
    expect((await settled()).length).toBe(1);
    dataOf(await api.post(`${LEADS}/${ids.A}/merge`, { lead_id: ids.B }));
    expect(await namesOf()).toEqual(['A+Lovelace+Lovelace 3 name_company']);
    expect(await settled()).toEqual(['Lovelace+Lovelace 2 name_company']);
  });

  it('shows ten leads of more, with their number', async () => {
    const items = Array.from({ length: 25 }, (_, index) => ({
      action: 'create',
      data: { first_name: 'Ada', last_name: 'Lovelace', zip: '94607', email: `a${index}@b.de` },
    }));
    expect((await api.post(`${LEADS}/batch`, { items })).status).toBe(200);
    await settled();
    const [group] = (await groupsOf()) as [Group];
    expect(group).toMatchObject({ total: 25, reasons: ['name_zip'] });
    expect(group.leads.map(({ email }) => email)).toEqual(
      items.slice(0, 10).map(({ data }) => data.email),
    );
  });

  it('never has leads of another organization', async () => {
    const other = await app.organization();
    const fields = { email: 'ada@example.com', last_name: 'Lovelace', zip: '94607' };
    await createLead(api, fields);
    await createLead(other.api, { ...fields, email: 'ada+1@example.com' });
    expect(await settled()).toEqual([]);
  });

  it('is read by cursor, each group once', async () => {
    const names = Array.from({ length: 7 }, (_, index) => `N${index}`);
    for (const name of names) {
      await createLead(api, { first_name: name, email: `${name}@example.com` });
      await createLead(api, { first_name: name, email: `${name}+1@example.com` });
    }
    const expected = names.map((name) => `${name}+${name} 2 email`);
    expect(await settled(3)).toEqual(expected);
    expect(await namesOf(1)).toEqual(expected);
    const first = await pageOf('?limit=3');
    expect(first.data).toHaveLength(3);
    expect(first.meta).toEqual({ next: expect.any(String), has_more: true });
    const { meta } = await pageOf(`?after=${first.meta.next}`);
    const end = { data: [], meta: { next: meta.next, has_more: false } };
    expect(await pageOf(`?after=${meta.next}`)).toEqual(end);
    for (const after of ['1', first.meta.next.slice(1), `${first.meta.next}a`]) {
      expectInvalid(await api.get(`${DUPLICATES}?after=${after}&limit=0`), 'after', 'limit');
    }
  });
});

/** Writes leads as an earlier version had written them: without forms and events. */
async function writeBefore(count: number, searchText = `E'\\x02'`): Promise<void> {
  await app.sql(
    `insert into leads (organization_id, id, first_name, last_name, zip, source, tags, custom_fields, lead_score,
         sms_opted_out, on_dnc_list, search_text)
       select $1, gen_random_uuid(), 'Ada', 'Lovelace', n % (1 + $2 / 2), 'api', '{}', '{}', 0, false, false,
         ${searchText} from generate_series(1, $2) n`,
    [tenant.id, count],
  );
}

describe('many leads', () => {
  it('are written in smaller transactions if one takes too long', async () => {
    await writeBefore(40);
    await begin();
    const own = await app.sql<{ id: string }>('select id from leads where organization_id = $1', [
      tenant.id,
    ]);
    const repository = app.app.get(LeadFormsRepository);
    const read = repository.readLeads.bind(repository);
    const sizes: number[] = [];
    const fill = () => app.app.get(LeadFormsService).fill({ tenant }, 'US', () => true);
    const spy = jest.spyOn(repository, 'readLeads').mockImplementation(async (call, ids) => {
      // The handler of events reads leads of other tests.
      if (!own.some(({ id }) => ids.includes(id))) return read(call, ids);
      sizes.push(ids.length);
      // Fewer leads do not prevent another failure.
      if (sizes.length === 1) throw new ApiError('overloaded');
      const text = `do $$ begin raise sqlstate '57014'; end $$`;
      if (ids.length > 10) await call.transaction.query({ text, values: [] });
      return read(call, ids);
    });
    await expect(fill()).rejects.toThrow(ApiError);
    expect(sizes).toEqual([40]);
    await fill();
    spy.mockRestore();
    expect(sizes).toEqual([40, 40, 10, 10, 10, 10]);
    expect(await groupsOf()).toHaveLength(19);
  });

  it('join a group of more than 10,000, which is not divided', async () => {
    const fields = { first_name: 'Ada', last_name: 'Lovelace', zip: '94607' };
    const first = await createLead(api, { ...fields, email: 'ada@example.com' });
    const bridged = await createLead(api, { last_name: 'Other', email: 'ada+1@example.com' });
    await settled();
    await app.sql(
      `insert into lead_forms (organization_id, id, name_zip, group_id)
         select organization_id, gen_random_uuid(), name_zip, group_id from lead_forms, generate_series(1, 9999)
         where id = $1`,
      [first.id],
    );
    const newer = await createLead(api, fields);
    await settled();
    const count =
      'select count(*)::int as n from lead_forms where group_id = any(array(select group_id from lead_forms where id = $1))';
    expect(await app.sql(count, [newer.id])).toEqual([{ n: 10_002 }]);
    await api.delete(`${LEADS}/${first.id}`);
    await settled();
    expect(await app.sql(count, [bridged.id])).toEqual([{ n: 10_001 }]);
    await api.delete(`${LEADS}/${newer.id}`);
    await settled();
    // Now it is small enough.
    expect(await app.sql(count, [bridged.id])).toEqual([{ n: 0 }]);
  });
});

describe('the first request of an organization', () => {
  it('finds groups of the leads that exist, and later ones follow changes', async () => {
    const { A } = await create({
      A: { email: 'ada@example.com' },
      B: { email: 'ada+1@example.com' },
    });
    const stored = 'select from lead_forms where organization_id = $1';
    await app.app.get(ContactIdentityService).normalizeAgain({ tenant }, 'US');
    expect(await app.sql(stored, [tenant.id])).toEqual([]);
    expect(await namesOf()).toEqual(['A+B 2 email']);
    await updateLead(api, A!, { email: 'grace@example.com' });
    expect(await settled()).toEqual([]);
  });

  it('leaves leads that take longer to a job', async () => {
    await writeBefore(1_300);
    const forms = app.app.get(LeadFormsService);
    const spy = jest.spyOn(forms, 'fill').mockResolvedValueOnce();
    expect(await groupsOf()).toEqual([]);
    spy.mockRestore();
    await until(async () => (await groupsOf()).length === 649);
  });
});

describe('leads without an event', () => {
  it('get their forms from a job, which continues after a restart', async () => {
    await writeBefore(1_300);
    await begin();
    const forms = app.app.get(LeadFormsService);
    let batches = 0;
    await forms.fill({ tenant }, 'US', () => ++batches < 3);
    const count =
      'select count(*)::int as n from lead_forms where organization_id = $1 and name_zip is not null';
    expect(await app.sql(count, [tenant.id])).toEqual([{ n: 1_000 }]);
    await app.sql(
      `insert into jobs (organization_id, id, name, payload, record_ids, run_at)
         values ($1, gen_random_uuid(), 'latitude.lead-forms', '{}', '{}', now())`,
      [tenant.id],
    );
    await until(async () => (await groupsOf()).length >= 649);
    expect((await settled()).slice(0, 1)).toEqual(['Lovelace+Lovelace 2 name_zip']);
    expect(await app.sql(count, [tenant.id])).toEqual([{ n: 1_300 }]);
  });

  it('get their forms with the search text, if SQL has written them', async () => {
    await begin();
    await writeBefore(4, `''`);
    await app.app.get(ContactIdentityService).refill({ tenant }, 'US');
    expect(await namesOf()).toEqual(['Lovelace+Lovelace 2 name_zip']);
  });

  it('lose their forms with the lead', async () => {
    const ids = await create({
      A: { email: 'a@b.de' },
      B: { email: 'a+1@b.de', phone: '0664 1234567', zip: '94607', company: 'Harbor' },
      C: { first_name: 'B', zip: '94607' },
    });
    expect(await settled()).toEqual(['A+B+B 3 email,name_zip']);
    const eraser = await app.key(tenant.id, ['leads:erase', 'leads:read']);
    const pool = ownerPool(app.database);
    const owner = await pool.connect();
    await owner.query('begin');
    const lock = `select pg_advisory_xact_lock(hashtextextended('lead forms ' || $1, 0))`;
    await owner.query(lock, [tenant.id]);
    const erased = await eraser.api.post(`${LEADS}/${ids.B}/erase`, {});
    expect(erased.status).toBe(200);
    const stored = await app.sql('select * from lead_forms where id = $1', [ids.B]);
    const empty = { email: null, phone: null, name_zip: null, name_company: null };
    expect(stored).toMatchObject([empty]);
    expect(await namesOf()).toEqual([]);
    await owner.query('rollback');
    owner.release();
    await pool.end();
    // A and C have nothing in common.
    expect(await settled()).toEqual([]);
    expect(await app.sql('select from lead_forms where id = $1', [ids.B])).toEqual([]);
  });
});
