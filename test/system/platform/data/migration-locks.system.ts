import type { Type } from '@nestjs/common';
import pg from 'pg';
import type { MigrationInterface, QueryRunner } from 'typeorm';
import { setLogLevel } from '../../../../src/platform/config/logger.js';
import {
  type DatabaseTarget,
  MIGRATIONS,
} from '../../../../src/platform/data/connection/data-source-options.js';
import {
  configOf,
  createDatabase,
  dropDatabase,
  query,
} from '../../../../src/testing/databases.js';
import { migrateDatabase } from '../../../support/database/migrate-database.js';
import { until } from '../../../support/servers/product.js';
import { CHECKS_TIMES } from '../../../support/times.js';
import { TableLoad } from '../../../support/database/table-load.js';

// Broken on purpose for docs/operating/runbook.md#a-lock-blocks-requests

/** Waits until another statement waits for a lock of the table. */
const WAIT_FOR_WAITER = `do $$ begin
  while not exists (select from pg_locks where relation = 'leads'::regclass and not granted) loop
    perform pg_sleep(0.01);
  end loop; end $$`;

class AddsColumn1800000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('alter table leads add column example text');
  }
  down = () => Promise.resolve();
}

class KeepsLock1800000000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`lock table leads; ${WAIT_FOR_WAITER}; select pg_sleep(0.3)`);
  }
  down = () => Promise.resolve();
}

beforeAll(() => {
  setLogLevel('silent');
});

describe('migrations of an extension on tables in use', () => {
  let database: DatabaseTarget;
  let load: TableLoad;

  beforeEach(async () => {
    database = await createDatabase();
    load = await TableLoad.start(database);
    await until(() => Promise.resolve(load.statements > 1_000));
  });
  afterEach(async () => {
    await load.stop();
    await dropDatabase(database);
  });

  const run = (migration: Type<MigrationInterface>) =>
    migrateDatabase(database, MIGRATIONS, [migration]);

  it('give up a lock that they do not get at once, and run again', async () => {
    const transaction = new pg.Client(configOf(database));
    await transaction.connect();
    await transaction.query('begin; select from leads limit 1');
    const migrated = run(AddsColumn1800000000000);
    const before = load.statements;
    await until(() => Promise.resolve(load.statements > before + 10_000));
    await transaction.query('commit');
    await migrated;
    await transaction.end();
    expect(await query(database, 'select example from leads')).toEqual([]);
    if (CHECKS_TIMES) expect(load.lockWaits).toEqual([]);
  });

  it('are reported if they keep a lock', async () => {
    await run(KeepsLock1800000000000);
    await load.stop();
    expect(load.lockWaits).toContainEqual(expect.stringMatching(/on relation .* update leads/));
  });
});

describe('an instance that waits for another one that migrates', () => {
  it('keeps no transaction open, for which `create index concurrently` would wait', async () => {
    const database = await createDatabase();
    const other = new pg.Client(configOf(database));
    await other.connect();
    await other.query('begin; select pg_advisory_xact_lock(7284913)');
    const waiting = migrateDatabase(database);
    await until(async () => {
      const rows = await query(
        database,
        `select from pg_stat_activity
         where datname = current_database() and state = 'idle' and query = 'ROLLBACK'`,
      );
      return rows.length > 0;
    }).finally(() => void other.end());
    await waiting;
    await dropDatabase(database);
  });
});
