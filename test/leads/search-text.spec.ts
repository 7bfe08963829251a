import { DataSource } from 'typeorm';
import {
  type DatabaseTarget,
  dataSourceOptions,
  MIGRATIONS,
} from '../../src/database/connection/data-source-options.js';
import { createLead, dataOf, type LeadRecord, LEADS } from '../../src/testing/factories.js';
import { TestApp } from '../../src/testing/test-app.js';
import type { Tenant } from '../../src/testing/test-server.js';
import { createDatabase, dropDatabase } from '../../src/testing/databases.js';
import { createDatabaseWithPlainOwner } from '../support/plain-owner.js';

const FIRST_OF_SEARCH_TEXT = MIGRATIONS.findIndex(({ name }) => name.startsWith('SearchText'));

const INSERT = `insert into leads (organization_id, id, first_name, last_name, company, phone,
    phone_compared, source, tags, custom_fields, lead_score, sms_opted_out, on_dnc_list)
  values ($1, gen_random_uuid(), $2, $3, $4, $5, $6, 'api', '{}', '{}', 0, false, false)`;

async function found({ api }: Tenant, search: string): Promise<string[]> {
  const answer = await api.get(`${LEADS}?${new URLSearchParams({ search, limit: '1' })}`);
  return dataOf<LeadRecord[]>(answer).map(({ first_name }) => first_name);
}

describe.each([
  ['a superuser', () => createDatabase('empty')],
  ['an owner whom row-level security binds', () => createDatabaseWithPlainOwner()],
])('the upgrade of a database by %s', (_, create) => {
  let database: DatabaseTarget;
  let app: TestApp;
  let old: DataSource;

  beforeAll(async () => {
    database = await create();
    const migrations = MIGRATIONS.slice(0, FIRST_OF_SEARCH_TEXT);
    old = await new DataSource({ ...dataSourceOptions(database), migrations }).initialize();
    await old.runMigrations();
    for (const name of ['one', 'two']) await addOrganization(name);
    app = await TestApp.start({ database });
  });
  afterAll(async () => {
    await old.destroy();
    await app.stop();
    await dropDatabase(database);
  });

  /** With more leads than one batch has. */
  async function addOrganization(name: string): Promise<void> {
    const rows: { id: string }[] = await old.query(
      `insert into organizations (id, name, phone_region) values (gen_random_uuid(), $1, 'GB')
       returning id`,
      [name],
    );
    const organization = rows[0]!.id;
    const runner = old.createQueryRunner();
    await runner.query(`select set_config('app.organization_id', $1, false)`, [organization]);
    await runner.query(
      `insert into leads (organization_id, id, first_name, source, tags, custom_fields, lead_score,
         sms_opted_out, on_dnc_list)
       select $1, gen_random_uuid(), 'lead ' || n, 'api', '{}', '{}', 0, false, false
       from generate_series(0, 1099) n`,
      [organization],
    );
    const phone = ['020 7946 0018', '+442079460018'];
    await runner.query(INSERT, [organization, 'Γιώργος', 'Straße', 'Έργα ΑΕ', ...phone]);
    const withExtension = ['020 7000 1234 x7', '+442070001234'];
    await runner.query(INSERT, [organization, 'Extended', null, null, ...withExtension]);
    await runner.query(`select set_config('app.organization_id', '', false)`);
    await runner.release();
  }

  async function tenants(): Promise<Tenant[]> {
    const organizations = await app.sql<{ id: string }>('select id from organizations');
    return Promise.all(organizations.map(({ id }) => app.key(id)));
  }

  it.each(['ΓΙΏΡΓΟΣ', 'STRASSE ΓΙΏ', 'έργα', '+44 20 7946 0018', '020-7946-00'])(
    'every lead is found as one that is created now, by %j',
    async (term) => {
      const all = await tenants();
      expect(all).toHaveLength(2);
      for (const tenant of all) expect(await found(tenant, term)).toEqual(['Γιώργος']);
    },
  );

  it.each(['+44 20 7000 1234 ext. 7', '020-7000-1234,7', '+44 20 7000 1234'])(
    'a phone with an extension is found as that of a lead that is created now, by %j',
    async (term) => {
      for (const tenant of await tenants()) expect(await found(tenant, term)).toEqual(['Extended']);
    },
  );

  it.each(['lead 0', 'lead 1099'])('leads of every batch are found: %s', async (name) => {
    for (const tenant of await tenants()) expect(await found(tenant, name)).toContain(name);
  });
});

describe('leads that others than the application write', () => {
  let app: TestApp;
  let tenant: Tenant;
  beforeAll(async () => {
    app = await TestApp.start();
    tenant = await app.organization();
  });
  afterAll(() => app.stop());

  it('are found where a statement inserts them without their search text', async () => {
    await app.sql(INSERT, [
      tenant.id,
      'Inserted',
      'By Sql',
      'Acme',
      '(628) 555-0143',
      '+16285550143',
    ]);
    for (const term of ['inserted', 'by sql ins', 'ACME', '628-555-0143', '+1 628 555']) {
      expect(await found(tenant, term)).toEqual(['Inserted']);
    }
  });

  it('are found by a name that a statement gave them, and by the former one no more', async () => {
    const { id } = await createLead(tenant.api, { first_name: 'Former' });
    await app.sql(`update leads set first_name = 'Renamed' where id = $1`, [id]);
    expect(await found(tenant, 'former')).toEqual([]);
    expect(await found(tenant, 'renamed')).toEqual(['Renamed']);
    await tenant.api.put(`${LEADS}/${id}`, { first_name: 'Anew' });
    expect(await found(tenant, 'renamed')).toEqual([]);
    expect(await found(tenant, 'anew')).toEqual(['Anew']);
  });

  it('keep what the application wrote where only the case of a name changes', async () => {
    const { id } = await createLead(tenant.api, { first_name: 'ελένης' });
    await tenant.api.put(`${LEADS}/${id}`, { first_name: 'ΕΛΈΝΗΣ' });
    const [stored] = await app.sql<{ search_text: string }>(
      'select search_text from leads where id = $1',
      [id],
    );
    expect(stored).toEqual({ search_text: 'ελένησ\x1e' });
  });

  it.each(['\u{1d160}', 'ᾷ', 'ΐ', '\u{20000}', '\u{1f600}'])(
    'text that is as long as it may be is taken and found, in %j',
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
