import { createLead, dataOf, LEADS } from '../../../src/testing/factories.js';
import { TestApp } from '../../../src/testing/test-app.js';
import type { Tenant } from '../../../src/testing/test-server.js';

const APPOINTMENTS = '/api/v1/appointments';
const TASKS = '/api/v1/tasks';
const TIMES = { start_time: '2026-03-01T10:00:00Z', end_time: '2026-03-01T11:00:00Z' };

let app: TestApp;
let tenant: Tenant;

beforeAll(async () => {
  app = await TestApp.start();
});
beforeEach(async () => {
  tenant = await app.organization();
});
afterAll(() => app.stop());

const RECORDS = { leads: 'deleted_at is null', appointments: 'true', tasks: 'deleted_at is null' };

/** The times of records that differ from the records, by their tables. */
function differences() {
  const queries = Object.entries(RECORDS).map(
    ([table, notDeleted]) => `select '${table}' as "table", id
      from (select id, updated_at from ${table} where organization_id = $1 and ${notDeleted}) records
        full join (select id, updated_at from ${table}_update_times where organization_id = $1) times using (id)
      where records.updated_at is distinct from times.updated_at`,
  );
  return app.sql(queries.join(' union all '), [tenant.id]);
}

async function create(path: string, body: object): Promise<string> {
  return dataOf<{ id: string }>(await tenant.api.post(path, body), 201).id;
}

async function createRecords() {
  const { id: lead } = await createLead(tenant.api);
  const appointment = await create(APPOINTMENTS, { lead_id: lead, ...TIMES });
  const task = await create(TASKS, { title: 'Call', contact_id: lead });
  return { lead, appointment, task };
}

async function idsOf(path: string): Promise<string[]> {
  return dataOf<{ id: string }[]>(await tenant.api.get(path)).map(({ id }) => id);
}

describe('the times of updates', () => {
  it('are those of the records after creations, updates and deletions', async () => {
    const { lead, appointment, task } = await createRecords();
    expect(await differences()).toEqual([]);
    await tenant.api.put(`${LEADS}/${lead}`, { notes: 'Called.' });
    await tenant.api.put(`${APPOINTMENTS}/${appointment}`, { notes: 'Called.' });
    await tenant.api.put(`${TASKS}/${task}`, { description: 'Called.' });
    expect(await differences()).toEqual([]);
    await tenant.api.delete(`${TASKS}/${task}`);
    await tenant.api.delete(`${LEADS}/${lead}`);
    expect(await differences()).toEqual([]);
    await tenant.api.post(`${LEADS}/${lead}/restore`, {});
    await tenant.api.post(`${TASKS}/${task}/restore`, {});
    expect(await differences()).toEqual([]);
  });

  it('follow merges, which change the records of another lead', async () => {
    const { lead } = await createRecords();
    const { id: target } = await createLead(tenant.api);
    dataOf(await tenant.api.post(`${LEADS}/${target}/merge`, { lead_id: lead }));
    expect(await differences()).toEqual([]);
  });

  it('follow SQL of a team, with any number of records in a statement', async () => {
    for (let i = 0; i < 3; i++) await createRecords();
    const where = 'where organization_id = $1';
    const later = `updated_at = updated_at + interval '1 hour'`;
    for (const statement of [
      `update leads set company = 'Navy', ${later} ${where}`,
      `update leads set company = 'Army' ${where}`,
      `update tasks set deleted_at = now() ${where}`,
      `update tasks set deleted_at = null, ${later} ${where}`,
      `update appointments set id = gen_random_uuid() ${where}`,
      `update tasks set id = gen_random_uuid(), deleted_at = now() ${where}`,
      `update tasks set id = gen_random_uuid(), deleted_at = null ${where}`,
      `delete from appointments ${where}`,
      `update tasks set contact_id = null ${where}`,
      `update leads set id = gen_random_uuid() ${where}`,
      `delete from leads ${where}`,
    ]) {
      await app.sql(statement, [tenant.id]);
      expect(await differences()).toEqual([]);
    }
  });

  it('order lists, and select their records, with other filters too', async () => {
    const leads: string[] = [];
    for (const source of ['website', 'referral', 'website']) {
      leads.push((await createLead(tenant.api, { source, company: 'Navy' })).id);
    }
    const [first = '', second = '', third = ''] = leads;
    await tenant.api.put(`${LEADS}/${first}`, { notes: 'Called.' });
    const { updated_at } = dataOf(await tenant.api.get(`${LEADS}/${first}`));
    const sorted = `${LEADS}?sort_by=updated_at`;
    expect(await idsOf(sorted)).toEqual([first, third, second]);
    expect(await idsOf(`${sorted}&sort_dir=asc&page=2&limit=2`)).toEqual([first]);
    expect(await idsOf(`${sorted}&source=website`)).toEqual([first, third]);
    expect(await idsOf(`${sorted}&search=Navy`)).toEqual([first, third, second]);
    const since = `updated_after=${updated_at}`;
    expect(await idsOf(`${LEADS}?${since}`)).toEqual([first]);
    expect(await idsOf(`${LEADS}?${since}&after=`)).toEqual([first]);
    expect(await idsOf(`${sorted}&${since}&source=website`)).toEqual([first]);
    expect(await idsOf(`${LEADS}?${since}&source=referral`)).toEqual([]);
    const before = JSON.stringify({ updated_at: { lt: updated_at }, source: 'website' });
    expect(await idsOf(`${LEADS}?filter=${encodeURIComponent(before)}`)).toEqual([third]);
    const { body } = await tenant.api.get(`${LEADS}/counts?by=source&${since}`);
    expect(body).toMatchObject({ data: [{ value: 'website', count: 1 }], meta: { total: 1 } });
  });
});

/** The columns that no index has, each with a change of it. */
const UNINDEXED = {
  leads: { notes: `notes || '.'`, zip: `'10115'`, custom_fields: `'{"roof_age": 20}'` },
  appointments: {
    notes: `'Called.'`,
    outcome: `'completed'`,
    end_time: `end_time + interval '1 hour'`,
  },
  tasks: { title: `title || '.'`, description: `'Called.'` },
};

/** Inserts 1,000 records, a page after another, as an import does. */
const INSERTS = {
  leads: `insert into leads (organization_id, id, first_name, notes, search_text, source, tags, custom_fields,
      lead_score, sms_opted_out, on_dnc_list)
    select $1, gen_random_uuid(), 'Lead ' || n, 'Asked to be called back.', E'\\x02lead ' || n, 'import', '{}', '{}', 0, false, false
    from generate_series(1, 1000) n`,
  appointments: `insert into appointments (organization_id, id, lead_id, start_time, end_time, status, booked_by)
    select $1, gen_random_uuid(), $2, now(), now(), 'scheduled', 'human' from generate_series(1, 1000)`,
  tasks: `insert into tasks (organization_id, id, title, priority, status, created_by_ai, contact_id)
    select $1, gen_random_uuid(), 'Call', 'high', 'open', false, $2 from generate_series(1, 1000)`,
};

/** Runs an update, and returns the share of its rows whose new version was written without indexes (HOT). */
const HOT_SHARE = `
  create function hot_share(changed regclass, text) returns numeric language plpgsql as $$
  declare
    earlier bigint := pg_stat_get_xact_tuples_hot_updated(changed);
    updated bigint;
  begin
    execute $2;
    get diagnostics updated = row_count;
    return (pg_stat_get_xact_tuples_hot_updated(changed) - earlier) / updated::numeric;
  end $$`;

describe('updates of columns that no index has', () => {
  beforeAll(() => app.sql(HOT_SHARE));

  it.each(Object.entries(UNINDEXED))('write no index of %s', async (table, changes) => {
    const { id: lead } = await createLead(tenant.api);
    const values = table === 'leads' ? [tenant.id] : [tenant.id, lead];
    await app.sql(INSERTS[table as keyof typeof INSERTS], values);
    const columns = Object.entries(changes);
    const shares: Record<string, number> = {};
    for (const [index, [column, value]] of columns.entries()) {
      // One record of a page, and each page once: other sessions can keep PostgreSQL from removing earlier versions. The
      // first pages have records of other tests.
      const ids = `select min(id::text)::uuid from (
          select id, (ctid::text::point)[0]::int as page from ${table} where organization_id = '${tenant.id}') records
        where page > 3 and page % ${columns.length} = ${index} group by page`;
      const update = `update ${table} set ${column} = ${value}, updated_at = updated_at + interval '1 ms'
        where organization_id = '${tenant.id}' and id in (${ids})`;
      const text = 'select hot_share($1::regclass, $2)::float8 as share';
      const [row] = await app.sql<{ share: number }>(text, [table, update]);
      shares[column] = row?.share ?? 0;
    }
    expect(Math.min(...Object.values(shares))).toBeGreaterThanOrEqual(0.9);
  });
});
