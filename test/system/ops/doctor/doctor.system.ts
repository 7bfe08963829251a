import { Module } from '@nestjs/common';
import pg from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { TenantEntity } from '../../../../src/platform/data/records/tenant-entity.js';
import {
  createTenantTable,
  dropTenantTable,
} from '../../../../src/platform/data/records/tenant-table.js';
import { defineConfig } from '../../../../src/platform/extension/config.js';
import { defineExtension } from '../../../../src/platform/extension/extension.js';
import { migrateDatabase } from '../../../support/database/migrate-database.js';
import {
  type DatabaseTarget,
  MIGRATIONS,
} from '../../../../src/platform/data/connection/data-source-options.js';
import { MIGRATION_NAMES } from '../../../../src/platform/data/executed-migrations.js';
import {
  configOf,
  createDatabase,
  databaseOf,
  dropDatabase,
  query,
  urlOf,
} from '../../../../src/testing/databases.js';
import {
  asSuperuser,
  asUser,
  createDatabaseWithPlainOwner,
} from '../../../support/database/plain-owner.js';
import { createOrganization, runCommand } from '../../../support/command-line.js';
import { until } from '../../../support/servers/product.js';
import { freePort } from '../../../support/servers/free-port.js';
import { type Diagnosis, runDoctor, runDoctorOf } from '../../../support/doctor.js';

/** Checks that find something in each run of tests: of its variables, its Node.js, and its cluster, which keeps no data. */
const OF_THE_TESTS = ['unknown_settings', 'node', 'durability', 'autovacuum', 'connections'];

/** The check that fails, its status, what breaks the database, and what the message says. */
const MENDED_BY_SQL = [
  ['indexes', 'failed', 'drop index leads_by_source', 'leads_by_source of leads is missing.'],
  ['indexes', 'failed', 'drop index leads_external_id_key', 'leads_external_id_key of leads'],
  [
    ...(['triggers', 'failed', 'alter table tasks disable trigger tasks_count_insert'] as const),
    'The trigger tasks_count_insert of tasks is not as the migrations made it.',
  ],
  [
    ...(['triggers', 'failed', 'drop trigger leads_count_update on leads'] as const),
    'The trigger leads_count_update of leads is missing.',
  ],
  [
    ...(['triggers', 'failed'] as const),
    'create trigger extra before update on tasks for each row execute function suppress_redundant_updates_trigger()',
    'The trigger extra of tasks is not one of Latitude',
  ],
  [
    ...(['constraints', 'failed'] as const),
    'alter table appointments drop constraint appointments_organization_id_lead_id_fkey',
    'appointments_organization_id_lead_id_fkey of appointments is missing.',
  ],
  ['policies', 'failed', 'drop policy tenant on leads', 'tenant of leads is missing.'],
  [
    ...(['policies', 'failed', 'create policy everything on leads using (true)'] as const),
    'everything of leads is not one of Latitude, and can show rows of other organizations.',
  ],
  [
    ...(['policies', 'failed', 'alter table tasks no force row level security'] as const),
    'Row-level security is not enabled and forced on tasks.',
  ],
  [
    ...(['grants', 'failed', 'revoke update (name) on organizations from latitude_app'] as const),
    'on table public.organizations.',
  ],
  [
    ...(['grants', 'failed', 'revoke insert on leads from latitude_app'] as const),
    'lacks insert on table public.leads.',
  ],
  [
    ...(['grants', 'failed', 'grant select (key_hash) on api_keys to latitude_app'] as const),
    'may select (key_hash) on table public.api_keys',
  ],
  [
    ...(['collations', 'warning'] as const),
    `update pg_collation set collversion = '1' where collname = 'latitude_names'`,
    'The collation latitude_names has another version',
  ],
  [
    ...(['leakproof', 'warning'] as const),
    'alter function pg_catalog.textlike(text, text) not leakproof',
    'LIKE is not marked as leak-proof',
  ],
] as const;

/** The check that fails, what breaks the database, and what the message says. */
const NOT_MENDED = [
  ['tables', 'alter table tasks alter column title type varchar', 'title of tasks is not as'],
  ['tables', 'alter table leads drop column notes', 'The column notes of leads is missing.'],
  ['tables', 'drop table mcp_sessions', 'The table mcp_sessions is missing.'],
  [
    ...(['functions', 'drop function custom_field_time(text) cascade'] as const),
    'The function custom_field_time(given text) is missing.',
  ],
  [
    ...(['autovacuum', 'alter table leads set (autovacuum_enabled = off)'] as const),
    'Autovacuum is off for the table leads.',
  ],
] as const;

@TenantEntity('parcels', { counted: ['weight'] })
class Parcel {}

class Parcels1700000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await createTenantTable(runner, Parcel, ['weight integer not null']);
  }
  async down(runner: QueryRunner): Promise<void> {
    await dropTenantTable(runner, Parcel);
  }
}

@Module({})
class ParcelsModule {}

const PARCELS = {
  name: 'example',
  module: ParcelsModule,
  migrations: [Parcels1700000000000],
  entities: [Parcel],
};

let database: DatabaseTarget;
let env: Record<string, string>;

beforeAll(async () => {
  database = await createDatabase();
  env = { DATABASE_URL: urlOf(database) };
});
afterAll(() => dropDatabase(database));

const doctor = (...args: string[]) => runDoctor(env, ...args);
const sql = <Row>(text: string, values?: unknown[]) => query<Row>(database, text, values);

/** Names of the checks that have found something, without what is true of every test. */
function problemsOf({ report }: Diagnosis): string[] {
  return report.checks
    .filter(({ name, status }) => /warning|failed/.test(status) && !OF_THE_TESTS.includes(name))
    .map(({ name }) => name);
}

/** Runs the statements of a remedy, without the words that say who runs them. */
async function apply(remedy = ''): Promise<void> {
  for (const statement of remedy.split(/(?<=;) /)) {
    if (statement.trim().endsWith(';')) await sql(statement.replace(/^[A-Z][^:]*: /, ''));
  }
}

describe('doctor on a database of this version', () => {
  it('finds nothing, exits with 0, and counts the checks in a last line', async () => {
    const healthy = await doctor('--deep');
    expect(problemsOf(healthy)).toEqual([]);
    expect(healthy).toMatchObject({ code: 0, report: { ok: true } });
    for (const { status, message, remedy } of healthy.report.checks) {
      expect(message).toMatch(/\.$/);
      expect(remedy !== undefined).toBe(status === 'warning' || status === 'failed');
    }
    const text = await runCommand(['doctor'], env);
    expect(text.code).toBe(0);
    expect(text.stdout).toMatch(/^ok {7}settings {11}All settings are valid/);
    expect(text.stdout).toMatch(/\n\d+ checks: .*\.\n$/);
  });

  it('runs where every transaction is read-only, and reports that', async () => {
    const copy = await createDatabase();
    await query(copy, `alter database ${databaseOf(copy)} set default_transaction_read_only = on`);
    const found = await runDoctor({ DATABASE_URL: urlOf(copy) }, '--deep');
    expect(problemsOf(found)).toEqual(['writable']);
    await dropDatabase(copy);
  });

  it('finds no fault with tables, columns and indexes that are not those of Latitude', async () => {
    await sql('create table reports (id int primary key, lead_count int)');
    await sql('create index reports_of_team on leads (organization_id, company)');
    await sql('alter table leads add column of_team text');
    await sql('alter table leads set (fillfactor = 80)');
    await sql('create index tasks_by_updated_at on tasks (organization_id, updated_at, id)');
    const found = await doctor();
    expect(problemsOf(found)).toEqual([]);
    const indexes = found.report.checks.find(({ name }) => name === 'indexes');
    expect(indexes?.message).toContain('drop index concurrently tasks_by_updated_at;');
    await sql('drop index tasks_by_updated_at');
    await sql(
      'drop table reports; drop index reports_of_team; alter table leads drop column of_team, reset (fillfactor)',
    );
  });

  it('finds no fault with the table of an extension, and warns of its migrations without it', async () => {
    const copy = await createDatabase();
    await migrateDatabase(copy, MIGRATIONS, [Parcels1700000000000]);
    const ofCopy = { DATABASE_URL: urlOf(copy) };
    const config = defineConfig({ extensions: [defineExtension(PARCELS)] });
    expect(problemsOf(await runDoctorOf(config, ofCopy, '--deep'))).toEqual([]);
    const without = await runDoctor(ofCopy);
    expect(problemsOf(without)).toEqual(['migrations']);
    expect(without.output).toContain('Parcels1700000000000 of latitude_migrations_example');
    await dropDatabase(copy);
  });

  it('finds each fault, and the remedies that it names mend all of them', async () => {
    for (const [, , statement] of MENDED_BY_SQL) await sql(statement);
    const { report, code } = await doctor();
    expect([code, report.ok]).toEqual([1, false]);
    for (const [name, status, , message] of MENDED_BY_SQL) {
      const found = report.checks.find((check) => check.name === name);
      expect(found).toMatchObject({ status, message: expect.stringContaining(message) });
    }
    for (const { name, remedy } of report.checks) {
      if (MENDED_BY_SQL.some(([mended]) => mended === name)) await apply(remedy);
    }
    expect(problemsOf(await doctor())).toEqual([]);
  });

  it('finds what no statement mends', async () => {
    const copy = await createDatabase();
    for (const [, statement] of NOT_MENDED) await query(copy, statement);
    const { report, code } = await runDoctor({ DATABASE_URL: urlOf(copy) });
    expect(code).toBe(1);
    for (const [name, , message] of NOT_MENDED) {
      const found = report.checks.find((check) => check.name === name);
      expect(found?.message).toContain(message);
    }
    await dropDatabase(copy);
  });

  it('reports an index whose build has failed', async () => {
    const { id } = await createOrganization(env);
    await sql(
      `insert into tasks (organization_id, id, title, priority, status, created_by_ai)
       select $1, gen_random_uuid(), 'Call', 'high', 'pending', false from generate_series(1, 2)`,
      [id],
    );
    const building = sql('create unique index concurrently of_team on tasks (organization_id)');
    await expect(building).rejects.toThrow();
    const { report } = await doctor();
    expect(report.checks).toContainEqual(
      expect.objectContaining({
        name: 'indexes',
        status: 'warning',
        message: expect.stringContaining('of_team'),
      }),
    );
    await sql('drop index of_team');
  });

  it('reports totals and search texts that are not those of the records only with --deep', async () => {
    const { id } = await createOrganization(env);
    await sql(
      `insert into leads (organization_id, id, first_name, search_text, status, source, tags, custom_fields,
         lead_score, sms_opted_out, on_dnc_list)
       values ($1, gen_random_uuid(), 'Ada', '', 'new', 'web', '{}', '{}', 0, false, false)`,
      [id],
    );
    const waiting = await doctor('--deep');
    expect(waiting.code).toBe(0);
    expect(problemsOf(waiting)).toEqual(['search_texts']);
    await sql(`update leads set search_text = E'\\x02grace\\x1e' where organization_id = $1`, [id]);
    await sql(
      `update record_counts set records = records + 3 where organization_id = $1 and resource = 'leads' and filter = ''`,
      [id],
    );
    expect(problemsOf(await doctor())).toEqual([]);
    const { report, code } = await doctor('--deep');
    expect(code).toBe(1);
    const messages = report.checks.filter(({ status }) => status === 'failed');
    expect(messages).toMatchObject([
      {
        name: 'counters',
        message: expect.stringMatching(
          `The total of leads in organization ${id} is \\d+ in place of 1.`,
        ),
        remedy: 'latitude counters repair',
      },
      { name: 'search_texts', message: expect.stringContaining(id), remedy: 'latitude migrate' },
    ]);
    await sql('delete from leads where organization_id = $1', [id]);
    await sql('delete from record_counts where organization_id = $1', [id]);
  });

  it('reports work that is late or has failed', async () => {
    const { id } = await createOrganization(env);
    await sql(
      `insert into jobs (organization_id, id, name, payload, record_ids, run_at, failed_at)
       values ($1, gen_random_uuid(), 'n', '{}', '{}', now() - interval '1 hour', now()),
         ($1, gen_random_uuid(), 'n', '{}', '{}', now() - interval '1 hour', null)`,
      [id],
    );
    await sql(
      `insert into event_outbox (organization_id, type, record_id, record, changed, created_at)
       values ($1, 'lead.created', gen_random_uuid(), '{}', '{}', now() - interval '1 hour')`,
      [id],
    );
    await sql(
      `insert into webhooks (organization_id, id, url, types, enabled, scopes, secret, disabled_reason)
       values ($1, gen_random_uuid(), 'https://hooks.example/secret', '{}', false, '{}', 's', 'failing')`,
      [id],
    );
    await sql(
      `insert into lead_imports (organization_id, id, status, format, mode, match_on, dry_run, ignored_columns, bytes,
         plan, starter, position, line, updated_at)
       values ($1, gen_random_uuid(), 'running', 'csv', 'create', '{}', false, '{}', 1, '{}', '{}', 0, 0,
         now() - interval '1 hour')`,
      [id],
    );
    const found = await doctor();
    expect(problemsOf(found)).toEqual(['jobs', 'events', 'imports', 'webhooks']);
    expect(found.code).toBe(0);
    expect((await doctor('--strict')).code).toBe(1);
    const messages = found.report.checks.map(({ message }) => message).join('\n');
    expect(messages).toContain(
      'have used all their attempts: 1. Jobs that have been due for more than 10 minutes: 1.',
    );
    expect(messages).not.toContain('hooks.example');
    for (const table of ['jobs', 'event_outbox', 'webhooks', 'lead_imports']) {
      await sql(`delete from ${table}`);
    }
  });

  it('reports migrations that have not run, and does not run them', async () => {
    const last = MIGRATION_NAMES.at(-1);
    const rows = await sql<{ id: number; timestamp: string }>(
      'delete from migrations where name = $1 returning id, timestamp',
      [last],
    );
    const { report, code } = await doctor();
    expect(code).toBe(1);
    expect(report.checks).toContainEqual(
      expect.objectContaining({
        name: 'migrations',
        status: 'failed',
        message: expect.stringContaining(last!),
      }),
    );
    expect(report.checks).toContainEqual(
      expect.objectContaining({ name: 'tables', status: 'skipped' }),
    );
    expect(await sql('select from migrations where name = $1', [last])).toEqual([]);
    const [{ id, timestamp }] = rows as [(typeof rows)[0]];
    await sql('insert into migrations values ($1, $2, $3)', [id, timestamp, last]);
  });

  it('warns of migrations that this version does not have', async () => {
    await sql(`insert into migrations (timestamp, name) values (1, 'Later1')`);
    const found = await doctor();
    expect(problemsOf(found)).toEqual(['migrations']);
    expect(found.code).toBe(0);
    await sql(`delete from migrations where name = 'Later1'`);
  });
});

describe('doctor while a transaction has locked a table', () => {
  it('names it and how to end it, and goes on with the other checks', async () => {
    const [blocker, waiting] = [0, 1].map(() => new pg.Client(configOf(database))) as [
      pg.Client,
      pg.Client,
    ];
    await Promise.all([blocker.connect(), waiting.connect()]);
    await blocker.query(`set application_name = 'report'`);
    const { rows } = await blocker.query<{ pid: number }>('select pg_backend_pid() as pid');
    const pid = rows[0]?.pid;
    await blocker.query('begin; lock table leads');
    const blocked = waiting.query('select from leads limit 1');
    await until(
      async () =>
        (
          await sql(
            `select from pg_locks where not granted and waitstart < now() - interval '1 second'`,
          )
        ).length > 0,
    );
    const found = await doctor();
    expect(found.code).toBe(0);
    expect(problemsOf(found)).toEqual(['locks']);
    const named = (name: string) => found.report.checks.find((check) => check.name === name);
    expect(named('locks')).toMatchObject({
      message: `A transaction of report (process ${pid}, idle in transaction) has locks for which others wait: 1.`,
      remedy: `End it in its application, or: select pg_terminate_backend(${pid});`,
    });
    expect(named('indexes')).toMatchObject({ status: 'skipped', message: 'A table is locked.' });
    await blocker.query('rollback');
    await blocked;
    expect(problemsOf(await doctor())).toEqual([]);
    await Promise.all([blocker.end(), waiting.end()]);
  });
});

describe('doctor on another database', () => {
  it('passes on one whose owner is no superuser', async () => {
    const owned = await createDatabaseWithPlainOwner('latitude_app');
    const ofOwner = { DATABASE_URL: urlOf(owned) };
    await runCommand(['migrate'], ofOwner);
    const { report, code } = await runDoctor(ofOwner, '--deep');
    expect(report.checks.filter(({ status }) => status === 'failed')).toEqual([]);
    expect(code).toBe(0);
    const owners = async () => {
      const found = await runDoctor(ofOwner);
      return found.report.checks.find(({ name }) => name === 'owners');
    };
    expect(await owners()).toMatchObject({ status: 'ok' });
    await query(asSuperuser(owned), 'alter table tasks owner to current_user');
    const problem = await owners();
    expect(problem).toMatchObject({
      status: 'warning',
      message: expect.stringMatching(
        /^The table tasks belongs to .*, so that migrations of it fail.$/,
      ),
    });
    const statement = problem?.remedy?.replace('As a superuser: ', '') ?? '';
    await query(asSuperuser(owned), statement);
    expect(await owners()).toMatchObject({ status: 'ok' });
    await dropDatabase(owned);
  });

  it('refuses a user whom the policies do not bind', async () => {
    const guest = `guest_${process.pid}`;
    await sql(`create role ${guest} login bypassrls password 'secret'`);
    const { report } = await runDoctor({ DATABASE_URL: urlOf(asUser(database, guest, 'secret')) });
    expect(report.checks).toContainEqual(
      expect.objectContaining({
        name: 'role',
        status: 'failed',
        message: `The database user ${guest} bypasses row-level security and may not use role latitude_app.`,
        remedy: `As a superuser: grant latitude_app to ${guest};`,
      }),
    );
    expect(report.checks).toContainEqual(
      expect.objectContaining({
        name: 'jobs',
        status: 'skipped',
        message: expect.stringContaining('permission denied'),
      }),
    );
    await sql(`drop role ${guest}`);
  });

  it('says that it is empty, and does not set it up', async () => {
    const empty = await createDatabase('empty');
    const { report, code } = await runDoctor({ DATABASE_URL: urlOf(empty) }, '--deep');
    expect(code).toBe(1);
    expect(report.checks).toContainEqual(
      expect.objectContaining({
        name: 'migrations',
        status: 'failed',
        message: 'The database is empty.',
      }),
    );
    expect(
      await query(empty, `select from pg_class where relnamespace = 'public'::regnamespace`),
    ).toEqual([]);
    await dropDatabase(empty);
  });

  it('exits with 2 if none answers, and prints no password', async () => {
    const port = await freePort();
    const others = {
      DATABASE_URL: `postgres://someone:hunter2@127.0.0.1:${port}/nothing`,
      DATABASE_REPLICA_URLS: `postgres://someone:hunter2@127.0.0.1:${port}/replica`,
      REDIS_URL: `redis://:hunter2@127.0.0.1:${port}`,
    };
    const { report, code, output } = await runDoctor(others);
    expect(code).toBe(2);
    expect(report).toMatchObject({ ok: false });
    expect(report.checks.at(-1)).toMatchObject({
      name: 'database',
      status: 'failed',
      message: expect.stringContaining('DATABASE_URL refers to a database that cannot be reached'),
    });
    expect(output).not.toContain('hunter2');
  });

  it('exits with 2 if a setting is invalid, and names it', async () => {
    const { report, code } = await runDoctor({ ...env, PORT: 'many' });
    expect(code).toBe(2);
    expect(report.checks).toMatchObject([
      { name: 'settings', status: 'failed', message: 'PORT must be an integer from 0 to 65535.' },
    ]);
  });

  it('reports replicas and a Redis that cannot be used, without their passwords', async () => {
    const port = await freePort();
    const { report, output } = await runDoctor({
      ...env,
      DATABASE_REPLICA_URLS: `${urlOf(database)},postgres://someone:hunter2@127.0.0.1:${port}/replica`,
      REDIS_URL: `redis://:hunter2@127.0.0.1:${port}`,
    });
    const found = new Map(report.checks.map((check) => [check.name, check]));
    expect(found.get('settings')).toMatchObject({ status: 'warning' });
    expect(found.get('replicas')).toMatchObject({
      status: 'warning',
      message: expect.stringMatching(
        /replica 1 is left out: it is not a standby.*replica 2 cannot be reached: /,
      ),
    });
    expect(found.get('redis')).toMatchObject({
      status: 'failed',
      message: 'Redis cannot be used: ECONNREFUSED.',
    });
    expect(output).not.toContain('hunter2');
  });
});
