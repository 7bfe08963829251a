import type { Type } from '@nestjs/common';
import { DataSource, type MigrationInterface } from 'typeorm';
import { withPool } from './connection/driver-pool.js';

/** Prefix of the migrations tables of extensions, in which TypeORM records what has run. */
export const MIGRATIONS_TABLE_PREFIX = 'latitude_migrations_';

/** The migrations of one extension and the name of its migrations table. */
export interface ExtensionMigrations {
  /** Name of the extension. */
  readonly extension: string;
  readonly table: string;
  readonly migrations: readonly Type<MigrationInterface>[];
}

export function migrationsOfExtension(
  extension: string,
  migrations: ExtensionMigrations['migrations'],
): ExtensionMigrations {
  return { extension, table: MIGRATIONS_TABLE_PREFIX + extension.replaceAll('-', '_'), migrations };
}

/** Calls `work` with a data source for the migrations of an extension, and closes it afterwards. */
export async function withMigrationsOf<T>(
  dataSource: DataSource,
  { table, migrations }: ExtensionMigrations,
  work: (extensionDataSource: DataSource) => Promise<T>,
): Promise<T> {
  const extensionDataSource = new DataSource({
    ...dataSource.options,
    ...withPool(),
    entities: [],
    migrations: [...migrations],
    migrationsTableName: table,
    poolSize: 2,
  } as DataSource['options']);
  await extensionDataSource.initialize();
  try {
    return await work(extensionDataSource);
  } finally {
    await extensionDataSource.destroy();
  }
}
