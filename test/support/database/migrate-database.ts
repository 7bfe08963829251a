import type { Type } from '@nestjs/common';
import { DataSource, type MigrationInterface } from 'typeorm';
import {
  type DatabaseTarget,
  dataSourceOptions,
  MIGRATIONS,
} from '../../../src/platform/data/connection/data-source-options.js';
import { migrate } from '../../../src/platform/data/migrate.js';
import { createDatabase, query } from '../../../src/testing/databases.js';
import { migrationsOfExtension } from '../../../src/platform/data/extension-migrations.js';

/** Creates a database that records the first migrations only, as one before release 0.3.0 does. */
export async function createOutdatedDatabase(): Promise<DatabaseTarget> {
  const database = await createDatabase();
  await query(database, 'delete from migrations where id > 10');
  return database;
}

/** Runs the migrations of Latitude that a database lacks. */
export async function migrateDatabase(
  database: DatabaseTarget,
  migrations: readonly Type<MigrationInterface>[] = MIGRATIONS,
  ofExtension: readonly Type<MigrationInterface>[] = [],
): Promise<void> {
  const options = { ...dataSourceOptions(database), migrations: [...migrations] };
  const dataSource = new DataSource(options);
  await dataSource.initialize();
  try {
    const extensionMigrations =
      ofExtension.length > 0 ? [migrationsOfExtension('example', ofExtension)] : [];
    await migrate(dataSource, { extensionMigrations });
  } finally {
    await dataSource.destroy();
  }
}
