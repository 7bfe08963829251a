import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setLogLevel } from '../../../../src/platform/config/logger.js';
import {
  type DatabaseTarget,
  MIGRATIONS,
} from '../../../../src/platform/data/connection/data-source-options.js';
import { MIGRATION_NAMES, namesOf } from '../../../../src/platform/data/executed-migrations.js';
import {
  createDatabase,
  databaseOf,
  dropDatabase,
  query,
} from '../../../../src/testing/databases.js';
import { migrateDatabase } from '../../../support/database/migrate-database.js';
import { until } from '../../../support/servers/product.js';
import { CHECKS_TIMES } from '../../../support/times.js';
import { TableLoad } from '../../../support/database/table-load.js';

const RELEASE = JSON.parse(readFileSync('.ci/upgrade/release.json', 'utf8')) as {
  lastMigration: string;
};

const ORGANIZATION = '00000000-0000-4000-8000-000000000001';

/** 50,000 leads, 10,000 appointments and tasks, and a row in each other table. */
const DATA = [
  `insert into organizations values ('${ORGANIZATION}', 'o', 'US')`,
  `insert into api_keys (id, organization_id, name, key_hash, key_start, scopes)
    values (gen_random_uuid(), '${ORGANIZATION}', 'k', '', 'lat_', '{}')`,
  `insert into leads (organization_id, id, first_name, status, source, tags, custom_fields, lead_score,
      sms_opted_out, on_dnc_list)
    select '${ORGANIZATION}', gen_random_uuid(), 'Lead ' || n, 'new', 'api',
      case when n % 2 = 0 then '{Roof,Spring}'::text[] else '{}' end, '{}', 0, false, false
    from generate_series(1, 50000) n`,
  `insert into appointments (organization_id, id, lead_id, start_time, end_time, status, booked_by)
    select '${ORGANIZATION}', gen_random_uuid(), id, now(), now() + interval '1 hour', 'scheduled', 'human'
    from leads limit 10000`,
  `insert into tasks (organization_id, id, title, priority, status, created_by_ai)
    select '${ORGANIZATION}', gen_random_uuid(), 'Call', 'high', 'pending', false
    from generate_series(1, 10000)`,
  `insert into idempotency_keys (organization_id, key, route, content_hash, status, body)
    values ('${ORGANIZATION}', 'k', 'POST /api/v1/leads', '', 201, '{}')`,
];

beforeAll(() => {
  setLogLevel('silent');
});

/** A copy of a database that no other connection uses. */
async function copyOf(source: DatabaseTarget): Promise<DatabaseTarget> {
  const name = `test_${randomUUID().replaceAll('-', '')}`;
  await query(source, `create database ${name} template ${databaseOf(source)} strategy file_copy`);
  return 'url' in source
    ? { url: source.url.replace(databaseOf(source), name) }
    : { ...source, database: name };
}

describe.each([
  ['the last release', RELEASE.lastMigration],
  ['release 0.3.0', 'McpSessionEnds1766016000000'],
])('migrations of a database of %s in use', (_, lastMigration) => {
  let released: DatabaseTarget;
  let database: DatabaseTarget;
  let load: TableLoad;

  beforeAll(async () => {
    released = await createDatabase('empty');
    const last = MIGRATIONS.findIndex((migration) => namesOf([migration]).includes(lastMigration));
    await migrateDatabase(released, MIGRATIONS.slice(0, last + 1));
    for (const statement of DATA) await query(released, statement);
    await query(released, 'vacuum analyze');
  });
  beforeEach(async () => {
    database = await copyOf(released);
    load = await TableLoad.start(database);
    await until(() => Promise.resolve(load.statements > 1_000));
  });
  afterEach(async () => {
    await load.stop();
    await dropDatabase(database);
  });
  afterAll(() => dropDatabase(released));

  it('do not stop the statements of that release', async () => {
    const before = load.statements;
    await migrateDatabase(database);
    const during = load.statements - before;
    const names = await query<{ name: string }>(
      database,
      'select name from migrations order by id',
    );
    expect(names.map(({ name }) => name)).toEqual(MIGRATION_NAMES);
    expect(during).toBeGreaterThan(0);
    // A machine that has much else to do can stop a process that has a lock.
    if (CHECKS_TIMES) expect(load.lockWaits).toEqual([]);
  });

  it('count the records by each filter, and fold all tags, while its statements write', async () => {
    await migrateDatabase(database);
    const counts = [
      ['leads', 'source', 'deleted_at is null'],
      ['appointments', 'type', 'type is not null'],
      ['tasks', 'priority', 'deleted_at is null'],
    ].map(
      ([table, filter, condition]) => `select '${table}' as name,
        (select count(*)::int from ${table} where ${condition}) as records,
        (select coalesce(sum(records), 0)::int from record_counts
          where resource = '${table}' and filter = '${filter}') as counted`,
    );
    const rows = await query<{ records: number; counted: number }>(
      database,
      counts.join(' union all '),
    );
    for (const { records, counted } of rows) expect(counted).toBe(records);
    const [folded] = await query(
      database,
      `select count(*) filter (where tags <> '{}' and tags_folded is null)::int as missing,
         count(*) filter (where tags_folded = E'\\x1froof\\x1fspring\\x1f') > 0 as "hasAny" from leads`,
    );
    expect(folded).toEqual({ missing: 0, hasAny: true });
  });
});
