import type { DataSource } from 'typeorm';

/** Any fixed number: the advisory lock under which instances migrate one after another. */
const MIGRATION_LOCK = 7_284_913;

/** Brings the schema up to date; safe when several instances start at once. */
export async function migrate(dataSource: DataSource): Promise<void> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    await dataSource.runMigrations();
    await runner.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
  } finally {
    await runner.release();
  }
}
