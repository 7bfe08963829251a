import type { Type } from '@nestjs/common';
import { DataSource, type MigrationInterface } from 'typeorm';

/** Prefix of the tables in which TypeORM records the migrations of extensions. */
export const LEDGER_PREFIX = 'latitude_migrations_';

/** The migrations of one extension and the table that records them. */
export interface MigrationLedger {
  /** Name of the extension. */
  readonly extension: string;
  readonly table: string;
  readonly migrations: readonly Type<MigrationInterface>[];
}

/** The ledger of an extension. */
export function ledgerOf(
  extension: string,
  migrations: MigrationLedger['migrations'],
): MigrationLedger {
  return { extension, table: LEDGER_PREFIX + extension.replaceAll('-', '_'), migrations };
}

/** Calls `work` with a data source for the migrations of a ledger, and closes it afterwards. */
export async function withLedger<T>(
  dataSource: DataSource,
  { table, migrations }: MigrationLedger,
  work: (ledger: DataSource) => Promise<T>,
): Promise<T> {
  const ledger = new DataSource({
    ...dataSource.options,
    entities: [],
    migrations: [...migrations],
    migrationsTableName: table,
    poolSize: 2,
  } as DataSource['options']);
  await ledger.initialize();
  try {
    return await work(ledger);
  } finally {
    await ledger.destroy();
  }
}
