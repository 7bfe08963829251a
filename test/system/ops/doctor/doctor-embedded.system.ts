import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { MIGRATIONS } from '../../../../src/platform/data/connection/data-source-options.js';
import { MIGRATION_NAMES, namesOf } from '../../../../src/platform/data/executed-migrations.js';
import { createDatabase, dropDatabase, query, urlOf } from '../../../../src/testing/databases.js';
import { connectionThrough } from '../../../../src/ops/embedded-postgres/connection.js';
import { describeUnless } from '../../../faults/support/describe-unless.js';
import { migrateDatabase } from '../../../support/database/migrate-database.js';
import { runDoctor } from '../../../support/doctor.js';
import { freePort } from '../../../support/servers/free-port.js';
import { PgBouncer, PGBOUNCER_SKIP_REASON } from '../../../support/servers/pgbouncer.js';
import { Product } from '../../../support/servers/product.js';

describe('doctor with the embedded PostgreSQL', () => {
  const product = new Product();
  afterAll(() => product.remove());

  const find = async (env: Record<string, string> = {}, ...args: string[]) => {
    const { report, code } = await runDoctor({ ...product.environment, ...env }, ...args);
    return { code, checks: new Map(report.checks.map((check) => [check.name, check])) };
  };

  it('exits with 2 before the first start, and creates no database', async () => {
    const { code, checks } = await find();
    expect(code).toBe(2);
    expect(checks.get('database')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('There is no embedded database in'),
    });
    expect(await readdir(path.dirname(product.environment.DATA_DIR!))).not.toContain('postgres');
  });

  it('looks at a running server, and at the database without it', async () => {
    const server = await product.start();
    const running = await find({ PUBLIC_URL: server.url }, '--deep');
    expect(running.checks.get('instances')).toMatchObject({
      message: 'Instances that are connected to this database: 1.',
    });
    expect(running.checks.get('public_url')).toMatchObject({
      status: 'ok',
      message: expect.stringContaining(`${server.url} leads to Latitude`),
    });
    expect(running.checks.get('disk')).toMatchObject({
      message: expect.stringContaining('MiB left'),
    });
    expect(running.checks.get('backup')).toMatchObject({ status: 'warning' });
    expect(running.code).toBe(0);

    const wrong = await find({ PUBLIC_URL: `http://127.0.0.1:${await freePort()}` });
    expect(wrong.checks.get('public_url')).toMatchObject({
      status: 'failed',
      message: expect.stringContaining('cannot be reached: ECONNREFUSED'),
    });

    const database = connectionThrough(path.join(product.environment.DATA_DIR!, 'run'));
    await query(database, 'alter role latitude_app bypassrls');
    const bypassing = await find();
    expect(bypassing.code).toBe(1);
    const { message, remedy = '' } = bypassing.checks.get('role')!;
    expect(message).toBe('Row-level security does not bind role latitude_app.');
    await query(database, remedy.replace('As a superuser: ', ''));
    expect((await find()).checks.get('role')).toMatchObject({ status: 'ok' });
    await server.stop();

    const stopped = await find({ PUBLIC_URL: server.url });
    expect(stopped.checks.get('public_url')).toMatchObject({ status: 'skipped' });
    expect(stopped.code).toBe(0);
  });
});

describe('doctor --upgrade', () => {
  it('says which migrations follow those of the last release, and runs none', async () => {
    const database = await createDatabase('empty');
    const env = { DATABASE_URL: urlOf(database) };
    const last = MIGRATIONS.findIndex(({ name }) => name === 'Confirmations1767000000600');
    await migrateDatabase(database, MIGRATIONS.slice(0, last + 1));
    // What that release did not need, and the upgrade adds.
    await query(database, 'drop extension btree_gist');
    await query(database, 'revoke select on organization_defaults from latitude_app');
    const { report, code } = await runDoctor(env, '--upgrade');
    expect(code).toBe(0);
    const pending = namesOf(MIGRATIONS.slice(last + 1));
    expect(report.upgrade).toMatchObject({ from: '0.4.0', old_instances_may_run: true });
    expect(report.upgrade?.migrations.map(({ name }) => name)).toEqual(pending);
    const named = (name: string) => report.checks.find((check) => check.name === name);
    expect(named('upgrade')).toMatchObject({
      status: 'ok',
      message: expect.stringContaining(`${pending.length} migrations lead from release 0.4.0`),
    });
    expect(named('upgrade_instances')).toMatchObject({ status: 'ok' });
    expect(named('upgrade_disk')).toMatchObject({ message: expect.stringContaining('MiB') });
    expect(named('migrations')).toBeUndefined();
    expect(named('extensions')).toMatchObject({
      status: 'ok',
      message: 'The upgrade creates the extension btree_gist.',
    });
    expect(named('grants')).toMatchObject({ status: 'skipped' });
    const executed = await query<{ name: string }>(database, 'select name from migrations');
    expect(executed).toHaveLength(MIGRATION_NAMES.length - pending.length);
    await dropDatabase(database);
  });
});

describeUnless(PGBOUNCER_SKIP_REASON, 'doctor behind PgBouncer', () => {
  it('names a pooler in transaction mode, and the settings that it does not support', async () => {
    const database = await createDatabase();
    const bouncer = await PgBouncer.to(database, 'transaction', 5);
    const env = { DATABASE_URL: bouncer.url };
    const prepared = await runDoctor(env);
    expect(prepared.code).toBe(2);
    expect(prepared.report.checks.at(-1)).toMatchObject({
      name: 'database',
      message: expect.stringContaining('set DATABASE_PREPARED_STATEMENTS=off'),
    });
    const { report, code } = await runDoctor({ ...env, DATABASE_PREPARED_STATEMENTS: 'off' });
    expect(code).toBe(0);
    expect(report.checks.find(({ name }) => name === 'pooler')).toMatchObject({
      status: 'ok',
      message: expect.stringContaining('A pooler in transaction mode'),
    });
    await bouncer.stop();
    await dropDatabase(database);
  });
});
