import { setTimeout as sleep } from 'node:timers/promises';
import { type DataSource, type Migration, MigrationExecutor, type QueryRunner } from 'typeorm';
import { logger } from '../config/logger.js';
import { LOCK_NOT_AVAILABLE, sqlStateOf } from './connection/driver-error.js';

/** How often a running migration is logged. */
const LOG_EVERY_MS = 5_000;

/** How long a migration waits for the lock of a table. Statements of other instances wait behind it. */
const LOCK_TIMEOUT_MS = 50;

/**
 * The pause before a migration that did not get a lock runs again. Statements that waited for it run during
 * the pause.
 */
const RETRY_MS = 200;

/** Runs migrations one after another, and logs the name, the number and the duration of each. */
export async function runPending(
  dataSource: DataSource,
  pending: readonly Migration[],
): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    for (const [index, migration] of pending.entries()) {
      const started = performance.now();
      const log = (message: string) => {
        const ms = Math.round(performance.now() - started);
        const { name } = migration;
        logger.info({ migration: name, number: index + 1, of: pending.length, ms }, message);
      };
      const ticker = setInterval(log, LOG_EVERY_MS, 'a migration is still running');
      await run(dataSource, runner, migration).finally(() => {
        clearInterval(ticker);
      });
      log('a migration is complete');
    }
  } finally {
    await runner.release();
  }
}

/** Runs a migration, and repeats it until it gets each lock without a long wait. */
async function run(
  dataSource: DataSource,
  runner: QueryRunner,
  migration: Migration,
): Promise<void> {
  const executor = new MigrationExecutor(dataSource, runner);
  // `create index concurrently` runs outside of transactions. It waits for other statements and blocks none.
  if (migration.instance?.transaction === false) {
    await executor.executeMigration(migration);
    return;
  }
  while (!(await getsLocks(runner, () => executor.executeMigration(migration)))) {
    await sleep(RETRY_MS);
  }
}

async function getsLocks(runner: QueryRunner, up: () => Promise<unknown>): Promise<boolean> {
  await runner.startTransaction();
  try {
    await runner.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
    await up();
    await runner.commitTransaction();
    return true;
  } catch (error) {
    await runner.rollbackTransaction().catch(() => undefined);
    if (sqlStateOf(error) !== LOCK_NOT_AVAILABLE) throw error;
    return false;
  }
}
