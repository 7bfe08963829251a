import { ContactIdentityService } from '../../../src/modules/leads/contact-identity/contact-identity.service.js';
import { createLead, dataOf, type LeadRecord, LEADS } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';
import { urlOf } from '../../../src/testing/databases.js';
import { latitude } from '../../support/command-line.js';
import { stopBackgroundWork } from '../../support/database/isolation.js';

const INSERT = `insert into leads (organization_id, id, first_name, last_name, company, phone,
    phone_compared, source, tags, custom_fields, lead_score, sms_opted_out, on_dnc_list)
  values ($1, gen_random_uuid(), $2, $3, $4, $5, $6, 'api', '{}', '{}', 0, false, false)`;

async function found({ api }: Tenant, search: string): Promise<string[]> {
  const answer = await api.get(`${LEADS}?${new URLSearchParams({ search, limit: '1' })}`);
  return dataOf<LeadRecord[]>(answer).map(({ first_name }) => first_name);
}

let app: TestApp;
beforeAll(async () => {
  app = await TestApp.start();
  // The job that refills leads each minute locks leads, which another refill leaves out.
  await stopBackgroundWork(app);
});
afterAll(() => app.stop());

describe('the search text of leads', () => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await app.organization();
  });

  it.each([
    ['update another field', `update leads set notes = 'n' where id = $1`],
    ['set the same name', `update leads set first_name = first_name where id = $1`],
  ])('is kept by SQL statements that %s', async (_, statement) => {
    const { id } = await createLead(tenant.api, { first_name: 'Keeper' });
    await app.sql(statement, [id]);
    expect(await found(tenant, 'keeper')).toEqual(['Keeper']);
    await tenant.api.delete(`${LEADS}/${id}`);
  });

  it('keeps the value of the application if only the case of a name changes', async () => {
    const { id } = await createLead(tenant.api, { first_name: 'ελένης' });
    await tenant.api.put(`${LEADS}/${id}`, { first_name: 'ΕΛΈΝΗΣ' });
    const [stored] = await app.sql<{ search_text: string }>(
      'select search_text from leads where id = $1',
      [id],
    );
    expect(stored).toEqual({ search_text: '\x02ελενησ\x1e' });
  });

  it.each(['\u{1d160}', 'ᾷ', 'ΐ', '\u{20000}', '\u{1f600}'])(
    'supports fields of the maximum length in %j',
    async (character) => {
      const names = { first_name: character.repeat(100), last_name: character.repeat(99) + 'x' };
      const { email, phone } = { email: 'long@example.com', phone: '+1 415 555 0199' };
      const company = character.repeat(200);
      const { id } = await createLead(tenant.api, { ...names, company, email, phone });
      const expected = [names.first_name];
      for (const term of [
        character.repeat(100),
        'long@example.com',
        '415-555-0199',
        company.slice(0, 100),
      ]) {
        expect(await found(tenant, term)).toEqual(expected);
      }
      await tenant.api.delete(`${LEADS}/${id}`);
    },
  );
});

describe('the refill of leads', () => {
  let tenant: Tenant;
  beforeEach(async () => {
    tenant = await app.organization();
  });

  const refill = () => app.app.get(ContactIdentityService).refill({ tenant }, 'US');
  const conflicts = () => app.app.get(ContactIdentityService).listConflicts({ tenant }, 'US');
  const formsOf = async (id: string) => {
    const [row] = await app.sql<{ email: string | null; phone: string | null; mark: number }>(
      `select email_compared as email, phone_compared as phone, ascii(search_text) as mark
       from leads where id = $1`,
      [id],
    );
    return row!;
  };
  const put = (id: string, body: object) => tenant.api.put(`${LEADS}/${id}`, body);

  /** Stores the search text and the compared forms that an instance of version 0.2 writes. */
  async function storeEarlier(id: string, { text = '', phone, email }: EarlierForms) {
    await app.sql(
      `update leads set search_text = $2, phone_compared = coalesce($3, phone_compared),
         email_compared = coalesce($4, email_compared) where id = $1`,
      [id, text, phone, email],
    );
  }

  interface EarlierForms {
    text?: string;
    phone?: string;
    email?: string;
  }

  it('makes leads found that were inserted or renamed with SQL', async () => {
    const phone = ['(628) 555-0143', '+16285550143'];
    await app.sql(INSERT, [tenant.id, 'Inserted', 'By Sql', 'Acme', ...phone]);
    const { id } = await createLead(tenant.api, { first_name: 'Former' });
    await app.sql(`update leads set first_name = 'Renamed' where id = $1`, [id]);
    expect(await found(tenant, 'former')).toEqual([]);
    await refill();
    for (const term of ['inserted', 'by sql ins', 'ACME', '628-555-0143', '+1 628 555']) {
      expect(await found(tenant, term)).toEqual(['Inserted']);
    }
    expect(await found(tenant, 'former')).toEqual([]);
    expect(await found(tenant, 'renamed')).toEqual(['Renamed']);
    await put(id, { first_name: 'Anew' });
    expect(await found(tenant, 'renamed')).toEqual([]);
    expect(await found(tenant, 'anew')).toEqual(['Anew']);
  });

  it('lets leads of an earlier version be found as before, and then without accents', async () => {
    const lead = await createLead(tenant.api, { first_name: 'Émile', last_name: 'O’Brien' });
    await storeEarlier(lead.id, { text: 'émile o’brien émile\x1e' });
    expect(await found(tenant, 'ÉMILE O’')).toEqual(['Émile']);
    await refill();
    for (const term of ['ÉMILE O’', "emile o'b"]) {
      expect(await found(tenant, term)).toEqual(['Émile']);
    }
    expect((await tenant.api.get(`${LEADS}/${lead.id}`)).body.data).toEqual(lead);
  });

  it('writes a lead again that an earlier version has written after it', async () => {
    const { id } = await createLead(tenant.api, { first_name: 'Zoë' });
    await refill();
    await app.sql(`update leads set first_name = 'Chloë', search_text = $2 where id = $1`, [
      id,
      'chloë\x1e',
    ]);
    await refill();
    expect(await found(tenant, 'chloe')).toEqual(['Chloë']);
  });

  it('counts what is found again', async () => {
    await app.sql(
      `insert into leads (organization_id, id, first_name, source, tags, custom_fields, lead_score,
         sms_opted_out, on_dnc_list, search_text)
       select $1, gen_random_uuid(), 'José', 'api', '{}', '{}', 0, false, false, E'josé\\x1e'
       from generate_series(1, 1201) g`,
      [tenant.id],
    );
    const total = async (search: string) => {
      const { body } = await tenant.api.get(`${LEADS}?${new URLSearchParams({ search })}`);
      return (body as { meta: { total: number } }).meta.total;
    };
    expect(await total('jose')).toBe(0);
    expect(await total('josé')).toBe(1_201);
    await refill();
    expect(await total('jose')).toBe(1_201);
    expect(await total('josé')).toBe(1_201);
  });

  it('writes no event, and nothing of another organization', async () => {
    const other = await app.organization();
    const foreign = await createLead(other.api, { first_name: 'Zoë' });
    await storeEarlier(foreign.id, { text: 'zoë\x1e' });
    const { id } = await createLead(tenant.api, { first_name: 'Zoë' });
    await storeEarlier(id, { text: 'zoë\x1e' });
    await refill();
    // Published and waiting events: that of the creation.
    const events = await app.sql(
      `select from events where organization_id = $1 and type like 'lead.%'
       union all select from event_outbox where organization_id = $1 and type like 'lead.%'`,
      [tenant.id],
    );
    expect(events).toHaveLength(1);
    expect(await found(other, 'zoe')).toEqual([]);
    expect(await found(tenant, 'zoe')).toEqual(['Zoë']);
  });

  it('normalizes phones and e-mails again', async () => {
    const { id } = await createLead(tenant.api, {
      phone: '(628) 555-0143',
      email: 'A@Example.com',
    });
    await storeEarlier(id, { phone: '6285550143', email: 'A@example.com' });
    await refill();
    expect(await formsOf(id)).toEqual({ phone: '+16285550143', email: 'a@example.com', mark: 2 });
  });

  it('keeps a form whose new one another lead has, lists it, and replaces it later', async () => {
    const older = await createLead(tenant.api, { phone: '030 901820' });
    await storeEarlier(older.id, { phone: '30901820' });
    const newer = await createLead(tenant.api, { phone: '030 901820' });
    await refill();
    await refill();
    expect(await formsOf(older.id)).toMatchObject({ phone: '30901820' });
    expect(await conflicts()).toEqual([
      { id: older.id, field: 'phone', value: '030 901820', kept_by: newer.id },
    ]);
    const environment = { DATABASE_URL: urlOf(app.database) };
    expect(await latitude(environment, 'migrate')).toMatchObject({
      conflicts: [{ organization_id: tenant.id, id: older.id, kept_by: newer.id }],
    });
    for (const body of [{ first_name: 'Renamed' }, { company: 'Acme' }]) {
      expect(await put(older.id, body)).toMatchObject({ status: 200 });
      expect(await conflicts()).toMatchObject([{ id: older.id, kept_by: newer.id }]);
    }
    expect(await found(tenant, 'renamed')).toEqual(['Renamed']);
    expect(await put(older.id, { phone: '030 901820', notes: 'n' })).toMatchObject({ status: 200 });
    await tenant.api.delete(`${LEADS}/${newer.id}`);
    await refill();
    expect(await formsOf(older.id)).toEqual({ phone: '030901820', email: null, mark: 2 });
    expect(await conflicts()).toEqual([]);
  });

  it('lists a lead that is renamed before its form is replaced', async () => {
    const older = await createLead(tenant.api, { phone: '030 901820' });
    await storeEarlier(older.id, { phone: '30901820' });
    const newer = await createLead(tenant.api, { phone: '030 901820' });
    await put(older.id, { last_name: 'Renamed' });
    await refill();
    expect(await conflicts()).toMatchObject([{ id: older.id, kept_by: newer.id }]);
  });

  it('gives a new form that two leads share to one of them', async () => {
    const ids: string[] = [];
    for (const phone of ['030 901820', '030 901821']) {
      const lead = await createLead(tenant.api, { phone });
      ids.push(lead.id);
      await app.sql(`update leads set phone = '030 901820' where id = $1`, [lead.id]);
      await storeEarlier(lead.id, { phone: `earlier ${phone}` });
    }
    await refill();
    const forms = await Promise.all(ids.map(formsOf));
    expect(forms.filter(({ phone }) => phone === '030901820')).toHaveLength(1);
    expect(await conflicts()).toHaveLength(1);
  });

  it('runs while leads are written', async () => {
    const leads = await Promise.all(
      Array.from({ length: 20 }, (_, n) => createLead(tenant.api, { phone: `030 9018${10 + n}` })),
    );
    for (const [n, { id }] of leads.entries()) await storeEarlier(id, { phone: `earlier ${n}` });
    const writes = leads.map(({ phone }) => tenant.api.post(LEADS, { first_name: 'Ada', phone }));
    await Promise.all([refill(), refill(), ...writes]);
    for (const answer of await Promise.all(writes)) expect([201, 409]).toContain(answer.status);
    await refill();
    const [stored] = await app.sql<{ leads: number; forms: number }>(
      `select count(*)::int as leads, count(distinct phone_compared)::int as forms
       from leads where organization_id = $1`,
      [tenant.id],
    );
    expect(stored!.forms).toBe(stored!.leads);
  });
});
