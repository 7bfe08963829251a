import { TenantDatabase } from '../../../src/platform/data/gateway/tenant-database.js';
import { OrganizationCalls } from '../../../src/platform/access/organization-calls.service.js';
import { TENANT_SETTING } from '../../../src/platform/data/connection/session-context.js';
import { createLead, dataOf, errorOf, expectError, LEADS } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';

let app: TestApp;
let tenants: Tenant[];

beforeAll(async () => {
  app = await TestApp.start();
  tenants = await Promise.all(Array.from({ length: 12 }, () => app.organization()));
});
afterAll(() => app.stop());

interface Seen {
  organization: string;
  transaction: string;
}

/** Sends one statement of each organization at the same time. */
function runOfAll(sqlOf: (tenant: Tenant) => string): Promise<PromiseSettledResult<Seen>[]> {
  const database = app.app.get(TenantDatabase);
  const text = `current_setting('${TENANT_SETTING}') as organization, txid_current()::text as transaction`;
  return Promise.allSettled(
    tenants.map(async (tenant) => {
      const [row] = await database.write<Seen>(
        { tenant },
        {
          text: `select ${text}, ${sqlOf(tenant)} where $1::uuid is not null`,
          values: [tenant.id],
          plan: 'index',
        },
      );
      return row!;
    }),
  );
}

describe('statements of several organizations at the same time', () => {
  it('share transactions, and each is bound to its own organization', async () => {
    const seen = (await runOfAll(() => 'true')).map((result) => {
      return (result as PromiseFulfilledResult<Seen>).value;
    });
    expect(seen.map(({ organization }) => organization)).toEqual(tenants.map(({ id }) => id));
    const transactions = new Set(seen.map(({ transaction }) => transaction));
    expect(transactions.size).toBeLessThan(tenants.length / 2);
  });

  it('are prepared apart from lookups of organizations on the same connections', async () => {
    const calls = app.app.get(OrganizationCalls);
    const find = () => Promise.all(tenants.map(({ id }) => calls.find(id, 'test')));
    const ids = tenants.map(({ id }) => id);
    await find();
    const results = await runOfAll(() => 'true');
    expect(results.map(({ status }) => status)).toEqual(ids.map(() => 'fulfilled'));
    expect((await find()).map((call) => call?.tenant.id)).toEqual(ids);
  });

  it('fail alone', async () => {
    const results = await runOfAll(({ id }) => {
      return tenants.findIndex((tenant) => tenant.id === id) % 5 === 0 ? 'no_such_function()' : '1';
    });
    for (const [n, result] of results.entries()) {
      expect(result).toMatchObject(
        n % 5 === 0
          ? { status: 'rejected', reason: { code: 'create_failed' } }
          : { status: 'fulfilled', value: { organization: tenants[n]!.id } },
      );
    }
  });

  it('do not see records of other organizations', async () => {
    const leads = await Promise.all(tenants.map(({ api }) => createLead(api)));
    const answers = await Promise.all(
      tenants.flatMap(({ api }, n) => [
        api.get(`${LEADS}/${leads[n]!.id}`),
        api.get(`${LEADS}/${leads[(n + 1) % leads.length]!.id}`),
      ]),
    );
    for (const [n, answer] of answers.entries()) {
      if (n % 2 === 0) expect(dataOf(answer).id).toBe(leads[n / 2]!.id);
      else expectError(answer, 404, 'not_found');
    }
  });

  it('report the duplicate of each organization, and create the other leads', async () => {
    const email = 'grace@example.com';
    const existing = await Promise.all(
      tenants.map(({ api }, n) => createLead(api, n % 2 === 0 ? { email } : {})),
    );
    const answers = await Promise.all(
      tenants.map(({ api }) => api.post(LEADS, { first_name: 'Grace', email })),
    );
    for (const [n, answer] of answers.entries()) {
      if (n % 2 === 1) expect(dataOf(answer, 201).email).toBe(email);
      else {
        expectError(answer, 409, 'duplicate');
        expect(errorOf(answer)).toMatchObject({ details: [{ existing_id: existing[n]!.id }] });
      }
    }
  });

  it('check deferred constraints while their own organization is set', async () => {
    await app.sql(`create table checked (organization text)`);
    await app.sql(`create function note_organization() returns trigger security definer
      language plpgsql as $$ begin
        insert into checked values (current_setting('${TENANT_SETTING}')); return null; end $$`);
    await app.sql(`create constraint trigger note_organization after insert on leads
      deferrable initially deferred for each row execute function note_organization()`);
    await Promise.all(tenants.map(({ api }) => createLead(api)));
    const rows = await app.sql<{ organization: string }>('select organization from checked');
    await app.sql('drop function note_organization() cascade');
    expect(rows.map(({ organization }) => organization).sort()).toEqual(
      tenants.map(({ id }) => id).sort(),
    );
  });

  it('fail alone if a deferred constraint refuses their rows', async () => {
    await app.sql(`create function refuse_lead() returns trigger language plpgsql as $$ begin
      if new.first_name = 'Refused' then raise check_violation; end if; return null; end $$`);
    await app.sql(`create constraint trigger refuse_lead after insert on leads
      deferrable initially deferred for each row execute function refuse_lead()`);
    const answers = await Promise.all(
      tenants.map(({ api }, n) =>
        api.post(LEADS, { first_name: n % 3 === 0 ? 'Refused' : 'Accepted' }),
      ),
    );
    await app.sql('drop function refuse_lead() cascade');
    for (const [n, answer] of answers.entries()) {
      if (n % 3 === 0) expectError(answer, 500, 'create_failed');
      else expect(dataOf(answer, 201).first_name).toBe('Accepted');
    }
  });
});
