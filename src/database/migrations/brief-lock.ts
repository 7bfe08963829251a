import { setTimeout as sleep } from 'node:timers/promises';
import type { QueryRunner } from 'typeorm';

const LOCK_TIMEOUT_MS = 1_000;
const RETRY_MS = 500;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Runs statements that lock a table against everyone else for a moment, in one transaction. Requests
 * queue behind a lock that is waited for, so that each attempt waits for a second only.
 */
export async function withBriefLock(
  runner: QueryRunner,
  statements: readonly string[],
): Promise<void> {
  for (;;) {
    await runner.startTransaction();
    try {
      await runner.query(`set local lock_timeout = ${LOCK_TIMEOUT_MS}`);
      for (const statement of statements) await runner.query(statement);
      await runner.commitTransaction();
      return;
    } catch (error) {
      await runner.rollbackTransaction();
      if (codeOf(error) !== LOCK_NOT_AVAILABLE) throw error;
      await sleep(RETRY_MS);
    }
  }
}

function codeOf(error: unknown): unknown {
  return (error as { driverError?: { code?: unknown } }).driverError?.code;
}
