// Measures how long each migration takes, and by how much the database grows, for 100,000 rows of one table. The figures are
// those of src/ops/doctor/upgrade/migration-effects.ts. It needs a build and an empty database server:
// .ci/with-postgres-15 node bench/migrations.mjs [TABLE...]
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { DataSource } from 'typeorm';
import {
  dataSourceOptions,
  MIGRATIONS,
} from '../dist/src/platform/data/connection/data-source-options.js';
import { setLogLevel } from '../dist/src/platform/config/logger.js';
import { migrate } from '../dist/src/platform/data/migrate.js';
import { markdownTable } from './lib/tables.mjs';

const ROWS = 200_000;
const ORGANIZATION = randomUUID();

/** Differences below these are noise. */
const LEAST_SECONDS = 0.05;
const LEAST_BYTES = 1;

/** Statements that fill a table of release 0.3.0, the oldest from which this version upgrades. */
const ROWS_OF = {
  leads: [
    `insert into leads (organization_id, id, first_name, last_name, email, phone, company, status, source, tags,
        custom_fields, lead_score, sms_opted_out, on_dnc_list)
      select '${ORGANIZATION}', gen_random_uuid(), 'Ada ' || n, 'Lovelace', 'ada' || n || '@example.com', '+1202555' || n,
        'Analytical Engines', 'new', 'web', '{Roof,Spring}', '{}', 50, false, false
      from generate_series(1, ${ROWS}) n`,
  ],
  appointments: [
    `insert into leads (organization_id, id, first_name, status, source, tags, custom_fields, lead_score, sms_opted_out,
        on_dnc_list) values ('${ORGANIZATION}', gen_random_uuid(), 'Ada', 'new', 'web', '{}', '{}', 0, false, false)`,
    `insert into appointments (organization_id, id, lead_id, start_time, end_time, type, status, booked_by)
      select '${ORGANIZATION}', gen_random_uuid(), leads.id, now() + n * interval '1 hour',
        now() + n * interval '1 hour', 'call', 'scheduled', 'human' from leads, generate_series(1, ${ROWS}) n`,
  ],
  tasks: [
    `insert into tasks (organization_id, id, title, priority, status, created_by_ai, due_date)
      select '${ORGANIZATION}', gen_random_uuid(), 'Call number ' || n, 'high', 'open', false, now() + interval '1 year'
      from generate_series(1, ${ROWS}) n`,
  ],
  webhook_deliveries: [
    `insert into webhooks (organization_id, id, url, types, enabled, scopes, secret)
      values ('${ORGANIZATION}', gen_random_uuid(), 'https://example.com', '{}', true, '{}', 's')`,
    `insert into webhook_deliveries (organization_id, id, webhook_id, event_id, type, record_id, body, next_attempt_at)
      select '${ORGANIZATION}', gen_random_uuid(), webhooks.id, n, 'lead.created', gen_random_uuid(), '{}', now()
      from webhooks, generate_series(1, ${ROWS}) n`,
  ],
  api_keys: [
    `insert into api_keys (id, organization_id, name, key_hash, key_start, scopes)
      select gen_random_uuid(), '${ORGANIZATION}', 'Key', decode(md5(n::text), 'hex'), 'lat_', '{leads:read}'
      from generate_series(1, ${ROWS}) n`,
  ],
};

const BASELINE = 1;

const SIZE = `select sum(pg_total_relation_size(oid))::float8 as bytes from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'm')`;

setLogLevel('silent');
const server = process.env.TEST_DATABASE_URL;
if (!server) throw new Error('TEST_DATABASE_URL is not set');
const [, , ...wanted] = process.argv;
const tables = Object.keys(ROWS_OF).filter(
  (table) => wanted.length === 0 || wanted.includes(table),
);
const measured = {};
for (const table of ['none', ...tables]) measured[table] = await measure(table);
const rows = MIGRATIONS.slice(BASELINE).flatMap(({ name }, index) =>
  tables.flatMap((table) => {
    const per100k = (value) => Math.max(0, (value * 100_000) / ROWS);
    const without = measured.none[index];
    const seconds = per100k(measured[table][index].seconds - without.seconds);
    const bytes = per100k(measured[table][index].bytes - without.bytes) / 100_000;
    if (seconds < LEAST_SECONDS && bytes < LEAST_BYTES) return [];
    return [[name, table, seconds.toFixed(2), Math.round(bytes)]];
  }),
);
console.log(markdownTable(['Migration', 'Table', 's per 100,000 rows', 'bytes per row'], rows, 0));

/** Runs all migrations on a database with many rows of one table. */
async function measure(table) {
  const name = `migrations_${randomUUID().replaceAll('-', '')}`;
  const admin = new pg.Client({ connectionString: server });
  await admin.connect();
  await admin.query(`create database ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  const sizeNow = async () => (await client.query(SIZE)).rows[0].bytes;
  await migrateTo(url.href, BASELINE);
  await client.query(`insert into organizations values ('${ORGANIZATION}', 'o', 'US')`);
  for (const statement of ROWS_OF[table] ?? []) await client.query(statement);
  await client.query('vacuum analyze');
  const results = [];
  for (let count = BASELINE + 1; count <= MIGRATIONS.length; count++) {
    const before = await sizeNow();
    const started = performance.now();
    await migrateTo(url.href, count);
    const seconds = (performance.now() - started) / 1_000;
    results.push({ seconds, bytes: (await sizeNow()) - before });
  }
  await client.end();
  await admin.query(`drop database ${name} with (force)`);
  await admin.end();
  return results;
}

async function migrateTo(url, count) {
  const options = { ...dataSourceOptions({ url }), migrations: MIGRATIONS.slice(0, count) };
  const dataSource = await new DataSource(options).initialize();
  await migrate(dataSource);
  await dataSource.destroy();
}
