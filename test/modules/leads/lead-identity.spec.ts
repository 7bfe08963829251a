import { OperatorsService } from '../../../src/modules/auth/operators.service.js';
import { KeysService } from '../../../src/modules/auth/keys.service.js';
import { ContactIdentityService } from '../../../src/modules/leads/contact-identity/contact-identity.service.js';
import { createLead, dataOf, expectError, LEADS } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => app.stop());

const post = (body: object) => tenant.api.post(LEADS, { first_name: 'Ada', ...body });
const put = (id: string, body: object) => tenant.api.put(`${LEADS}/${id}`, body);

/** Stores a lead with the compared forms of an earlier version. */
async function store(fields: {
  phone?: string;
  email?: string;
  compared: string | null;
  age: number;
}) {
  const { id } = await createLead(tenant.api, {});
  const column = fields.phone === undefined ? 'email' : 'phone';
  await app.sql(
    `update leads set ${column} = $2, ${column}_compared = $3,
       created_at = now() - $4 * interval '1 hour' where id = $1`,
    [id, fields.phone ?? fields.email, fields.compared, fields.age],
  );
  return id;
}

async function forms(id: string) {
  const [row] = await app.sql<{ phone_compared: string | null; email_compared: string | null }>(
    'select phone_compared, email_compared from leads where id = $1',
    [id],
  );
  return row;
}

describe('equal phones and e-mails', () => {
  it.each([
    ['+1 415 555 2671 x12', '(415) 555-2671 ext. 12'],
    ['+1 415 555 2671 x12', '+14155552671;ext=12'],
    ['+1 415 555 2671;12', '415.555.2671 #12'],
    ['0049 30 901820', '+49 30/901820'],
    ['+49 30 901820', '+٤٩ ٣٠ ٩٠١٨٢٠'],
    ['+49 30 901820', '\u202a+49\u00a030–901\u200b820\u202c'],
    ['tel:+14155552671;ext=12', '＋１（４１５）５５５－２６７１　extension 12'],
  ])('answers 409 when a lead has the phone %s and %s is sent', async (phone, other) => {
    expect((await post({ phone })).status).toBe(201);
    expectError(await post({ phone: other }), 409, 'duplicate');
  });

  it('accepts leads whose phones differ only in the extension', async () => {
    for (const phone of ['+1 415 555 2671', '+1 415 555 2671 x1', '+1 415 555 2671 x2']) {
      expect(await post({ phone })).toMatchObject({ status: 201, body: { data: { phone } } });
    }
  });

  it.each(['call me', '12', 'ext. 1', '+1 415 555 2671=12'])(
    'rejects the phone %s',
    async (phone) => {
      const answer = await post({ phone });
      expectError(answer, 400, 'validation_error');
      expect(answer.body.error.details[0].field).toBe('phone');
    },
  );

  it.each([
    ['٠٣٠-٩٠١٨٢٠', '030 901820'],
    ['+49\u00a030–901820', '+4930901820'],
    ['tel:+49-30-901820', '49 30'],
    ['+49 30 901820', '٩٠١٨٢٠'],
    ['+49 30 901820', 'tel:+49\u201130\u2011901820'],
    ['+49 30 901820 extension 7', '+49 30 901820 x7'],
    ['４９３０９０１８２０', '4930901820'],
  ])('finds the phone %j by %j', async (phone, search) => {
    const { id } = await createLead(tenant.api, { phone });
    await createLead(tenant.api, { phone: '+44 20 7946 0018' });
    const found = await tenant.api.get(`${LEADS}?${new URLSearchParams({ search })}`);
    expect(found.body.data).toMatchObject([{ id, phone }]);
  });

  it.each([
    ['élan@example.com', 'E\u0301LAN@example.com'],
    ['info@bücher.example', 'info@xn--bcher-kva.example'],
    ['info@bu\u0308cher.example', 'INFO@BÜCHER.example'],
  ])('answers 409 when a lead has the e-mail %s and %s is sent', async (email, other) => {
    expect(await post({ email })).toMatchObject({ status: 201, body: { data: { email } } });
    expectError(await post({ email: other }), 409, 'duplicate');
  });
});

describe('a lead whose phone another lead has since an upgrade', () => {
  it('is listed as a conflict, and stays editable until it gets a different phone', async () => {
    const older = await store({ phone: '0049 30 901820', compared: '+4930901820', age: 5 });
    const id = await store({ phone: '+49 30 901820', compared: null, age: 1 });
    expect(await app.app.get(ContactIdentityService).listConflicts({ tenant }, 'US')).toEqual([
      { id, field: 'phone', value: '+49 30 901820', kept_by: older },
    ]);
    expect(await put(id, { notes: 'Call again.' })).toMatchObject({ status: 200 });
    expectError(await put(id, { phone: '+49 (30) 901820' }), 409, 'duplicate');
    expect(await put(id, { phone: '+49 30 901821' })).toMatchObject({ status: 200 });
    expect(await forms(id)).toMatchObject({ phone_compared: '+4930901821' });
    expect(await forms(older)).toMatchObject({ phone_compared: '+4930901820' });
  });
});

describe('an e-mail address of an earlier version with an invisible character', () => {
  const EMAIL = 'ad\u200ba@example.com';

  it('can be repeated by an update, but not given to another lead', async () => {
    const id = await store({ email: EMAIL, compared: EMAIL, age: 1 });
    const repeated = await put(id, { email: EMAIL, notes: 'Call again.' });
    expect(repeated).toMatchObject({ status: 200, body: { data: { email: EMAIL } } });
    const { id: other } = await createLead(tenant.api, {});
    for (const answer of [await put(other, { email: EMAIL }), await post({ email: EMAIL })]) {
      expectError(answer, 400, 'validation_error');
      expect(answer.body.error.details).toEqual([
        { field: 'email', message: 'must not contain an invisible character (U+200B)' },
      ]);
    }
    expect(await put(id, { email: 'ada@example.com' })).toMatchObject({ status: 200 });
    expectError(await put(id, { email: EMAIL }), 400, 'validation_error');
  });

  it('can be repeated at its ends, even if another lead has the same address', async () => {
    const email = 'ada@example.com\u200e';
    const id = await store({ email, compared: email, age: 1 });
    await createLead(tenant.api, { email: 'ada@example.com' });
    const repeated = await put(id, { email });
    expect(repeated).toMatchObject({ status: 200, body: { data: { email: 'ada@example.com' } } });
  });
});

describe('a change of the phone region', () => {
  const change = async (region: string) => {
    await app.app.get(KeysService).updateOrganization(tenant.id, { phone_region: region });
    await app.app.get(ContactIdentityService).normalizeAgain({ tenant }, region);
  };
  const conflicts = (region: string) => {
    return app.app.get(ContactIdentityService).listConflicts({ tenant }, region);
  };

  it('normalizes every phone again and updates the search', async () => {
    const { id } = await createLead(tenant.api, { phone: '030 901820' });
    const updated = await tenant.api.get(`${LEADS}/${id}`);
    await change('DE');
    expect(await forms(id)).toMatchObject({ phone_compared: '+4930901820' });
    expect((await tenant.api.get(`${LEADS}/${id}`)).body).toEqual(updated.body);
    const found = await tenant.api.get(`${LEADS}?search=${encodeURIComponent('+49 30 901820')}`);
    expect(found.body.data).toMatchObject([{ id }]);
  });

  it('gives a phone that two leads share to the older lead', async () => {
    const older = await createLead(tenant.api, { phone: '030 901820' });
    const newer = await createLead(tenant.api, { phone: '+49 30 901820' });
    await change('DE');
    expect(await forms(older.id)).toMatchObject({ phone_compared: '+4930901820' });
    expect(await conflicts('DE')).toMatchObject([{ id: newer.id, kept_by: older.id }]);
    await change('US');
    expect(await conflicts('US')).toEqual([]);
    expect(await forms(newer.id)).toMatchObject({ phone_compared: '+4930901820' });
  });

  it('gives a lead the form that a newer lead gives up', async () => {
    const older = await store({ phone: '+49 30 901820', compared: 'old', age: 9 });
    const newer = await store({ phone: '+49 30 901821', compared: '+4930901820', age: 1 });
    await change('US');
    expect(await forms(older)).toMatchObject({ phone_compared: '+4930901820' });
    expect(await forms(newer)).toMatchObject({ phone_compared: '+4930901821' });
  });

  it('ignores other organizations and deleted leads', async () => {
    const other = await app.organization();
    const { id } = await createLead(other.api, { phone: '030 901820' });
    const before = await forms(id);
    const deleted = await createLead(tenant.api, { phone: '030 901820' });
    await tenant.api.delete(`${LEADS}/${deleted.id}`);
    const live = await createLead(tenant.api, { phone: '+49 30 901820' });
    await change('DE');
    expect(await forms(id)).toEqual(before);
    expect(await forms(live.id)).toMatchObject({ phone_compared: '+4930901820' });
    expect(await conflicts('DE')).toEqual([]);
  });

  it('processes more leads than one batch during concurrent writes', async () => {
    await app.sql(
      `insert into leads (organization_id, id, first_name, source, tags, custom_fields, lead_score,
         sms_opted_out, on_dnc_list, phone, phone_compared, search_text)
       select $1, gen_random_uuid(), 'Ada', 'api', '{}', '{}', 0, false, false,
         '030 90' || (100000 + g), '03090' || (100000 + g), ''
       from generate_series(1, 1200) g`,
      [tenant.id],
    );
    let changing = true;
    const write = async () => {
      for (let n = 0; changing; n++) {
        const { status } = await post({ phone: `+49 30 90${100_001 + (n % 1200)}` });
        expect([201, 409]).toContain(status);
      }
    };
    const writer = write();
    await change('DE').finally(() => (changing = false));
    await writer;
    const [stored] = await app.sql<{ forms: number; distinct: number }>(
      `select count(phone_compared)::int as forms, count(distinct phone_compared)::int as distinct
       from leads where organization_id = $1`,
      [tenant.id],
    );
    expect(stored).toMatchObject({ forms: stored!.distinct });
    expect(stored!.forms).toBeGreaterThanOrEqual(1_200);
  });
});

/** SQL of the default of the column, with which release 0.3.0 creates organizations. */
const COLUMN_DEFAULT = `select column_default as expression from information_schema.columns
  where table_name = 'organizations' and column_name = 'phone_region'`;

describe('the default phone region', () => {
  it('is the setting of the server that started last', async () => {
    const german = await TestApp.start({ settings: { defaultPhoneRegion: 'DE' } });
    const organization = await german.app.get(KeysService).createOrganization('Acme');
    expect(organization).toMatchObject({ phone_region: 'DE' });
    const french = await TestApp.start({
      settings: { defaultPhoneRegion: 'FR' },
      database: german.database,
    });
    expect(await german.app.get(KeysService).createOrganization('Acme')).toMatchObject({
      phone_region: 'FR',
    });
    expect(await french.app.get(KeysService).createOrganization('Acme', 'GB')).toMatchObject({
      phone_region: 'GB',
    });
    const operator = german.client(
      (await german.app.get(OperatorsService).createKey('Onboarding', null)).key,
    );
    const created = await operator.post('/api/v1/organizations', { name: 'Acme' });
    expect(dataOf(created, 201)).toMatchObject({ phone_region: 'FR' });
    const [column] = await german.sql<{ expression: string }>(COLUMN_DEFAULT);
    expect(column!.expression).toContain(`'US'`);
    await french.stop();
    await german.stop();
  });
});
