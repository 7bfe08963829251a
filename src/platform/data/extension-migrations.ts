import type { Type } from '@nestjs/common';
import type { MigrationInterface } from 'typeorm';

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
