import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '../../../../src/platform/data/connection/data-source-options.js';
import { MIGRATION_NAMES } from '../../../../src/platform/data/executed-migrations.js';
import type { SnapshotReader } from '../../../../src/platform/data/gateway/snapshot-reader.js';
import type { Call, TenantCall } from '../../../../src/platform/data/call.js';
import type { Statement } from '../../../../src/platform/data/gateway/statement.js';
import { TenantDatabase } from '../../../../src/platform/data/gateway/tenant-database.js';
import { readInput } from '../../../../src/platform/fields/input/read-input.js';
import { LeadListQuery } from '../../../../src/modules/leads/lead.dto.js';
import { LeadsRepository } from '../../../../src/modules/leads/leads.repository.js';
import { LEADS } from '../../../../src/testing/factories.js';
import { TestApp } from '../../../../src/testing/test-app.js';
import { createDatabase, dropDatabase, query } from '../../../../src/testing/databases.js';
import { createOutdatedDatabase } from '../../../support/database/migrate-database.js';
import { captureLog } from '../../../support/captured-log.js';

describe('migrations', () => {
  let apps: TestApp[];

  beforeAll(async () => {
    const database = await createDatabase('empty');
    apps = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(() => TestApp.start({ database })));
  });
  afterAll(() => Promise.all(apps.map((app) => app.stop())));

  it('run once if eight instances start on an empty database at the same time', async () => {
    const names = await apps[0]!.sql<{ name: string }>('select name from migrations order by id');
    expect(names.map(({ name }) => name)).toEqual(MIGRATION_NAMES);
  });

  it('create exactly the schema that the entities describe', async () => {
    const { app, database } = apps[0]!;
    const entities = app.get(DataSource).entityMetadatas.map(({ target }) => target);
    const owner = new DataSource({ ...dataSourceOptions(database), entities });
    await owner.initialize();
    const { upQueries } = await owner.driver.createSchemaBuilder().log();
    await owner.destroy();
    expect(upQueries.map(({ query }) => query)).toEqual([]);
  });

  it('create organization_id in each key of the tables of organizations', async () => {
    // Events are numbered across organizations: docs/adr/0020-partitions-by-organization.md
    const exceptions = ['event_outbox', 'events', 'api_keys', 'oauth_grants', 'mcp_sessions'];
    const keys = await apps[0]!.sql(
      `select c.relname, coalesce(conname, indexrelid::regclass::text) as name
       from pg_class c join pg_attribute a on attrelid = c.oid and attname = 'organization_id'
         left join pg_index on indrelid = c.oid and indisunique and not attnum = any(indkey)
         left join pg_constraint on conrelid = c.oid and contype = 'f' and not attnum = any(conkey)
       where relkind in ('r', 'p') and not relispartition and relnamespace = 'public'::regnamespace
         and relname <> all($1)
         and (indexrelid is not null or conname is not null)`,
      [exceptions],
    );
    expect(keys).toEqual([]);
  });
});

describe('startup on the schema of a newer version', () => {
  const lines = captureLog();

  it('succeeds, and logs the migrations that this version does not know', async () => {
    const database = await createDatabase();
    await query(
      database,
      `insert into migrations (timestamp, name) values (1900000000000, 'Newer1900000000000')`,
    );
    const app = await TestApp.start({ database, settings: { logLevel: 'warn' } });
    const { api } = await app.organization();
    expect(await api.post(LEADS, { first_name: 'Ada' })).toMatchObject({ status: 201 });
    await app.stop();
    const warnings = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(warnings).toContainEqual(
      expect.objectContaining({
        migrations: ['Newer1900000000000'],
        msg: 'the schema of the database is newer than this version',
      }),
    );
  });
});

describe('startup on a schema before that of release 0.3.0', () => {
  it('fails, and names the way through release 0.4', async () => {
    const database = await createOutdatedDatabase();
    await expect(TestApp.start({ database })).rejects.toThrow(
      'run "latitude migrate" of release 0.4.0 on it, and then start this version',
    );
    await dropDatabase(database);
  });
});

// Released migrations never change, so they must not depend on code that may change.
describe('migrations', () => {
  const folder = 'src/platform/data/migrations';

  it.each(readdirSync(folder).filter((name) => name.endsWith('.ts')))(
    '%s imports no other file of the project',
    (name) => {
      expect(readFileSync(path.join(folder, name), 'utf8')).not.toMatch(/from '\./);
    },
  );
});

describe('lists read through an index, without sorting', () => {
  let app: TestApp;

  beforeAll(async () => {
    app = await TestApp.start();
    await app.sql(`insert into organizations
      select ('00000000-0000-4000-8000-' || lpad(g::text, 12, '0'))::uuid, 'o', 'US'
      from generate_series(0, 1) g`);
    await app.sql(`insert into leads (organization_id, id, first_name, last_name, email, status,
        temperature, source, tags, custom_fields, lead_score, created_at, sms_opted_out, on_dnc_list, search_text)
      select ('00000000-0000-4000-8000-' || lpad((g % 2)::text, 12, '0'))::uuid, gen_random_uuid(),
        md5(g::text), case when g % 3 > 0 then md5((g * 7)::text) end, 'lead' || g || '@example.com',
        's' || g % 5, (array['cold', 'warm', 'hot'])[1 + g % 3], 'api', '{}', '{}', g % 100,
        now() - g * interval '1 minute', false, false, E'\\x02lead' || g || '@example.com\\x1f' || md5(g::text)
      from generate_series(1, 20000) g`);
    await app.sql('vacuum analyze leads, leads_update_times');
  });
  afterAll(() => app.stop());

  const directions = ['asc', 'desc'] as const;
  it.each([
    ...directions.map((sort_dir) => ['leads_by_created_at', { sort_by: 'created_at', sort_dir }]),
    ...directions.map((sort_dir) => [
      'leads_sorted_by_first_name',
      { sort_by: 'first_name', sort_dir },
    ]),
    ...directions.map((sort_dir) => ['leads_by_lead_score', { sort_by: 'lead_score', sort_dir }]),
    ['leads_sorted_by_last_name', { sort_by: 'last_name', sort_dir: 'asc' }],
    ['leads_sorted_by_last_name_desc', { sort_by: 'last_name', sort_dir: 'desc' }],
    ['leads_by_status', { status: 's1' }],
    ['leads_by_temperature', { temperature: 'hot' }],
    ['leads_by_created_at', { created_after: '2026-01-01', created_before: '2027-01-01' }],
  ] as [string, Record<string, string>][])('%s serves %j', async (index, query) => {
    const plan = await planOfPage(app, query);
    expect(plan).toContain(`using ${index} on leads`);
    expect(plan).not.toMatch(/Sort Key: leads\./);
  });

  it.each(directions)(
    'the index of the times of updates serves their order, %s',
    async (sort_dir) => {
      const plan = await planOfPage(app, { sort_by: 'updated_at', sort_dir });
      expect(plan).toContain('using leads_update_times_in_order on leads_update_times');
      expect(plan).toContain('using leads_pkey on leads');
    },
  );

  it('the index of the times of updates finds records that have changed in a period', async () => {
    const plan = await planOfPage(app, { updated_after: '2100-01-01T00:00:00Z' });
    expect(plan).toContain('using leads_update_times_in_order on leads_update_times');
    expect(plan).toContain('using leads_pkey on leads');
  });

  it('the trigram index serves a search under row-level security', async () => {
    expect(await planOfPage(app, { search: 'lead1234@' })).toContain(
      'Bitmap Index Scan on leads_search',
    );
  });

  it('the trigram index serves both folds of a term, and both readings of a plus', async () => {
    for (const search of ['Élodie Durand', 'lead1234 tag@example.com']) {
      const plan = await planOfPage(app, { search });
      expect(plan).toMatch(
        /BitmapOr(\s+->  Bitmap Index Scan on leads_search\s+Index Cond: .*){2}/,
      );
    }
  });
});

/** Returns how PostgreSQL reads the page of a list under the tenant role. */
async function planOfPage(app: TestApp, query: Record<string, string>): Promise<string> {
  let statement: Statement | undefined;
  const recorder = {
    read: (_: TenantCall, sent: Statement) => {
      statement = sent;
      return Promise.resolve([{ total: 0, items: null }]);
    },
  };
  const repository = new LeadsRepository(
    recorder as unknown as TenantDatabase,
    {} as SnapshotReader,
  );
  const organization = '00000000-0000-4000-8000-000000000001';
  const call = { tenant: { id: organization, phoneRegion: 'US' } } as Call;
  await repository.list(call, readInput(LeadListQuery, query).value);
  const { text, values } = statement!;
  const rows = await app.app.get(TenantDatabase).read<{ 'QUERY PLAN': string }>(
    { tenant: { id: organization } },
    {
      text: `explain (costs off) ${text}`,
      values,
      plan: 'custom',
    },
  );
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}
