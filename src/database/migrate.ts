import type { DataSource } from 'typeorm';

/** Any fixed number: the advisory lock under which instances migrate one after another. */
const MIGRATION_LOCK = 7_284_913;

/**
 * Brings the schema up to date; safe when several instances start at once.
 * @returns the names of the migrations that ran
 */
export async function migrate(dataSource: DataSource): Promise<string[]> {
  const runner = dataSource.createQueryRunner();
  try {
    await runner.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const applied = await dataSource.runMigrations();
    await runner.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    return applied.map((migration) => migration.name);
  } finally {
    await runner.release();
  }
}
