import { setTimeout as sleep } from 'node:timers/promises';
import type { MigrationInterface, QueryRunner } from 'typeorm';
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

/** Returns the name of a migration that TypeORM stores. */
export function nameOf({ name, constructor }: MigrationInterface): string {
  return name ?? constructor.name;
}

/** Logs the name, the number and the duration of each migration. */
export class MigrationProgress {
  private begun = 0;
  private current: { migration: string; started: number } | undefined;

  /** @param pending migrations that have not run. Their method `up` is replaced. */
  constructor(private readonly pending: readonly MigrationInterface[]) {
    for (const migration of pending) {
      const up = migration.up.bind(migration);
      migration.up = (runner) => {
        this.begin(nameOf(migration));
        return withLockTimeout(runner, () => up(runner));
      };
    }
  }

  /** Logs the progress of `work`, which runs the migrations. */
  async watch(work: () => Promise<unknown>): Promise<void> {
    const ticker = setInterval(() => {
      this.log('a migration is still running');
    }, LOG_EVERY_MS);
    try {
      await work();
      this.end();
    } finally {
      clearInterval(ticker);
    }
  }

  private begin(migration: string): void {
    this.end();
    this.begun++;
    this.current = { migration, started: performance.now() };
  }

  /** Called after the commit of a migration. */
  private end(): void {
    this.log('a migration is complete');
    this.current = undefined;
  }

  private log(message: string): void {
    if (!this.current) return;
    const { migration, started } = this.current;
    const ms = Math.round(performance.now() - started);
    logger.info({ migration, number: this.begun, of: this.pending.length, ms }, message);
  }
}

/** Runs the statements of a migration, and repeats them until they get each lock without a long wait. */
async function withLockTimeout(runner: QueryRunner, up: () => Promise<void>): Promise<void> {
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
