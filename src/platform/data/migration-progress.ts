import type { MigrationInterface } from 'typeorm';
import { logger } from '../config/logger.js';
import { withLockTimeout } from './lock-timeout.js';

/** How often a running migration is logged. */
const LOG_EVERY_MS = 5_000;

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
