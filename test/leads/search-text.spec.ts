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
import { createDatabaseWithPlainOwner } from '../support/database/plain-owner.js';

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
  ['an owner who is subject to row-level security', () => createDatabaseWithPlainOwner()],
])('the search after a database was upgraded by %s', (_, create) => {
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

  /** Adds an organization with more leads than one batch of the migration. */
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
    'finds older leads by %j',
    async (term) => {
      const all = await tenants();
      expect(all).toHaveLength(2);
      for (const tenant of all) expect(await found(tenant, term)).toEqual(['Γιώργος']);
    },
  );

  it.each(['+44 20 7000 1234 ext. 7', '020-7000-1234,7', '+44 20 7000 1234'])(
    'finds an older lead with an extension by the phone %j',
    async (term) => {
      for (const tenant of await tenants()) expect(await found(tenant, term)).toEqual(['Extended']);
    },
  );

  it.each(['lead 0', 'lead 1099'])('finds leads of every batch: %s', async (name) => {
    for (const tenant of await tenants()) expect(await found(tenant, name)).toContain(name);
  });
});

describe('the search text of leads', () => {
  let app: TestApp;
  let tenant: Tenant;
  beforeAll(async () => {
    app = await TestApp.start();
    tenant = await app.organization();
  });
  afterAll(() => app.stop());

  it('is set by the database for leads inserted with SQL', async () => {
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

  it('is updated by the database for leads updated with SQL', async () => {
    const { id } = await createLead(tenant.api, { first_name: 'Former' });
    await app.sql(`update leads set first_name = 'Renamed' where id = $1`, [id]);
    expect(await found(tenant, 'former')).toEqual([]);
    expect(await found(tenant, 'renamed')).toEqual(['Renamed']);
    await tenant.api.put(`${LEADS}/${id}`, { first_name: 'Anew' });
    expect(await found(tenant, 'renamed')).toEqual([]);
    expect(await found(tenant, 'anew')).toEqual(['Anew']);
  });

  it('keeps the value of the application if only the case of a name changes', async () => {
    const { id } = await createLead(tenant.api, { first_name: 'ελένης' });
    await tenant.api.put(`${LEADS}/${id}`, { first_name: 'ΕΛΈΝΗΣ' });
    const [stored] = await app.sql<{ search_text: string }>(
      'select search_text from leads where id = $1',
      [id],
    );
    expect(stored).toEqual({ search_text: 'ελένησ\x1e' });
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
