import type { Type } from '@nestjs/common';
import { DataSource, type MigrationInterface } from 'typeorm';
import {
  type DatabaseTarget,
  dataSourceOptions,
  MIGRATIONS,
} from '../../../src/database/connection/data-source-options.js';
import { migrate } from '../../../src/database/migrate.js';
import { ledgerOf } from '../../../src/database/migration-ledgers.js';

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
    const ledgers = ofExtension.length > 0 ? [ledgerOf('example', ofExtension)] : [];
    await migrate(dataSource, { ledgers });
  } finally {
    await dataSource.destroy();
  }
}
