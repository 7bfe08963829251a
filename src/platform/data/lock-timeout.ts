import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryRunner } from 'typeorm';
import { LOCK_NOT_AVAILABLE, sqlStateOf } from './connection/driver-error.js';

/** How long a migration waits for the lock of a table. Statements of other instances wait behind it. */
const LOCK_TIMEOUT_MS = 50;

/**
 * The pause before a migration that did not get a lock runs again. Statements that waited for it run during
 * the pause.
 */
const RETRY_MS = 200;

/** Runs the statements of a migration, and repeats them until they get each lock without a long wait. */
export async function withLockTimeout(runner: QueryRunner, up: () => Promise<void>): Promise<void> {
  // `create index concurrently` runs outside of transactions. It waits for other statements and blocks none.
  if (!runner.isTransactionActive) return up();
  await runner.query('savepoint migration');
  await runner.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  while (!(await getsLocks(up))) {
    await runner.query('rollback to savepoint migration');
    await sleep(RETRY_MS);
    await runner.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
  }
  await runner.query('set local lock_timeout to default');
}

async function getsLocks(up: () => Promise<void>): Promise<boolean> {
  try {
    await up();
    return true;
  } catch (error) {
    if (sqlStateOf(error) !== LOCK_NOT_AVAILABLE) throw error;
    return false;
  }
}
