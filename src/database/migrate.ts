import { setTimeout as sleep } from 'node:timers/promises';
import type { DataSource, QueryRunner } from 'typeorm';

/** Any fixed number: the advisory lock under which instances migrate one after another. */
const MIGRATION_LOCK = 7_284_913;
const RETRY_MS = 100;

/** Brings the schema up to date; safe when several instances start at once. */
export async function migrate(dataSource: DataSource): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    // An index is built beside others only when no statement waits, not even for this lock.
    while (!(await tryLock(runner))) await sleep(RETRY_MS);
    await dataSource.runMigrations();
    await runner.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
  } finally {
    await runner.release();
  }
}

async function tryLock(runner: QueryRunner): Promise<boolean> {
  const [row] = (await runner.query('select pg_try_advisory_lock($1) as locked', [
    MIGRATION_LOCK,
  ])) as { locked: boolean }[];
  return row?.locked === true;
}
