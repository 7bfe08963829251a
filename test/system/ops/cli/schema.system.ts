import { Module } from '@nestjs/common';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { defineConfig } from '../../../../src/platform/extension/config.js';
import type { AddCommands } from '../../../../src/platform/extension/command.js';
import { defineExtension } from '../../../../src/platform/extension/extension.js';
import {
  type DatabaseTarget,
  MIGRATIONS,
} from '../../../../src/platform/data/connection/data-source-options.js';
import { createDatabase, dropDatabase, query, urlOf } from '../../../../src/testing/databases.js';
import { type CommandResult } from '../../../support/servers/product.js';
import { latitude, runCommand } from '../../../support/command-line.js';
import { temporaryFile } from '../../../support/database/backups.js';
import {
  createOutdatedDatabase,
  migrateDatabase,
} from '../../../support/database/migrate-database.js';

// Broken on purpose for docs/operating/runbook.md#an-instance-does-not-start

const ORGANIZATION = '00000000-0000-4000-8000-000000000000';
const LAST = MIGRATIONS.at(-1)!.name;

class Parcels1700000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('create table parcels (id uuid primary key)');
  }
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('drop table parcels');
  }
}

const addParcels: AddCommands = (program, run) => {
  program.command('parcels').action(() => run(() => Promise.resolve([])));
};

@Module({})
class ParcelsModule {}

const parcels = defineConfig({
  extensions: [
    defineExtension({
      name: 'parcels',
      module: ParcelsModule,
      migrations: [Parcels1700000000000],
      commands: [addParcels],
    }),
  ],
});

let database: DatabaseTarget;
let env: Record<string, string>;

beforeEach(async () => {
  database = await createDatabase('empty');
  env = { DATABASE_URL: urlOf(database) };
});
afterEach(() => dropDatabase(database));

/** The tables of the database, and the migrations that its tables record. */
async function schema(): Promise<object> {
  const tables = await query(
    database,
    `select relname from pg_class where relnamespace = 'public'::regnamespace order by 1`,
  );
  return { tables, executed: await query(database, 'select * from migrations order by id') };
}

function expectRefused({ code, stdout, stderr }: CommandResult, ...parts: string[]): void {
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr.trim().split('\n')).toHaveLength(1);
  for (const part of parts) expect(stderr).toContain(part);
}

describe('a command on a database with a schema', () => {
  it.each([
    [['organizations', 'list']],
    [['--json', 'organizations', 'list']],
    [['keys', 'list', '--organization', ORGANIZATION]],
    [['counters', 'repair']],
    [['jobs', 'list']],
    [['purge', '--older-than', '30d']],
    [['demo', '--leads', '1']],
    [['leads', 'conflicts']],
    [['webhooks', 'list', '--organization', ORGANIZATION]],
    [['backup', temporaryFile()]],
    [['--json', 'backup', temporaryFile()]],
  ])('refuses a schema that lacks a migration, and does not migrate it: %j', async (args) => {
    await migrateDatabase(database, MIGRATIONS.slice(0, -1));
    const before = await schema();
    expectRefused(await runCommand(args, env), LAST, 'backup', 'latitude migrate');
    expect(await schema()).toEqual(before);
  });

  it('refuses a schema with a migration that this version does not have', async () => {
    await migrateDatabase(database);
    await query(database, `insert into migrations (timestamp, name) values (1, 'Later1')`);
    expectRefused(await runCommand(['organizations', 'list'], env), 'Later1');
    expectRefused(await runCommand(['backup', temporaryFile()], env), 'Later1');
  });

  it.each([[['migrate']], [['organizations', 'list']], [['backup', temporaryFile()]]])(
    'refuses a schema before that of release 0.3.0, and names the way through 0.4: %j',
    async (args) => {
      await dropDatabase(database);
      database = await createOutdatedDatabase();
      const before = await schema();
      const way = 'run "latitude migrate" of release 0.4.0 on it, and then start this version';
      expectRefused(await runCommand(args, { DATABASE_URL: urlOf(database) }), way);
      expect(await schema()).toEqual(before);
    },
  );

  it('runs after "migrate" has migrated it', async () => {
    await migrateDatabase(database, MIGRATIONS.slice(0, -1));
    await latitude(env, 'migrate');
    expect(await latitude(env, 'organizations', 'list')).toEqual([]);
  });

  it('refuses it without the migrations of an extension, and those of an extension that it does not have', async () => {
    await migrateDatabase(database);
    const before = await schema();
    const missing = 'Parcels1700000000000 of latitude_migrations_parcels';
    for (const args of [['organizations', 'list'], ['parcels'], ['backup', temporaryFile()]]) {
      expectRefused(await runCommand(args, env, parcels), missing, 'latitude migrate');
    }
    expect(await schema()).toEqual(before);

    expect((await runCommand(['migrate'], env, parcels)).code).toBe(0);
    expect((await runCommand(['parcels'], env, parcels)).code).toBe(0);
    expectRefused(await runCommand(['organizations', 'list'], env), missing);
  });
});

describe('a command on an empty database', () => {
  it('sets it up, with the migrations of extensions', async () => {
    expect((await runCommand(['organizations', 'list'], env, parcels)).code).toBe(0);
    const [table] = await query(database, `select to_regclass('parcels') as name`);
    expect(table).toEqual({ name: 'parcels' });
    expect((await runCommand(['parcels'], env, parcels)).code).toBe(0);
  });
});
