import type pg from 'pg';
import type { BackupHeader, BackupTable } from './backup-file.js';
import { readMigrations, readTables, ROOT, type StoredTable } from './catalogue.js';
import {
  isOlderThanBaseline,
  MIGRATION_NAMES,
  namesOf,
} from '../../platform/data/executed-migrations.js';
import type { ExtensionMigrations } from '../../platform/data/extension-migrations.js';
import { withConnection } from '../connection.js';
import type { DatabaseTarget } from '../../platform/data/connection/data-source-options.js';

const USE_EMPTY_DATABASE = 'restore into an empty one, such as a new database or another DATA_DIR';

/** The names that are not in another list. */
function missing(names: readonly string[], others: readonly string[]): string[] {
  return names.filter((name) => !others.includes(name));
}

/**
 * Checks that a backup can be restored, before anything is written.
 * @param extensionMigrations the migrations of the extensions, each with the table that stores which have run (its ledger)
 * @throws Error whose message is meant for the user
 */
export async function assertRestorable(
  target: DatabaseTarget,
  header: BackupHeader,
  extensionMigrations: readonly ExtensionMigrations[],
): Promise<void> {
  if (isOlderThanBaseline(header.migrations)) {
    throw new Error(
      `The backup has a schema from before release 0.3.0 (Latitude ${header.latitude} made it), which this version does not upgrade: restore it with release 0.4.0 and make a new backup.`,
    );
  }
  const unknown = [
    ...missing(header.migrations, MIGRATION_NAMES),
    ...Object.entries(header.ledgers ?? {}).flatMap(([table, executed]) => {
      const own = extensionMigrations.find((one) => one.table === table);
      return missing(executed, namesOf(own?.migrations ?? []));
    }),
  ];
  if (unknown.length > 0) {
    throw new Error(
      `The backup contains migrations that this version of Latitude and its modules do not have (${unknown.join(', ')}): restore it with Latitude ${header.latitude} and the modules that it had.`,
    );
  }
  await withConnection(target, async (client) => {
    // Each record belongs to an organization. The restore checks all tables again, once it has locked them.
    const tables = await readTables(client);
    await assertNoRecords(
      client,
      tables.filter(({ name }) => name === ROOT),
    );
    const { migrations = [] } = await readMigrations(client);
    const ahead = missing(migrations, header.migrations);
    if (ahead.length === 0) return;
    throw new Error(
      `The backup is older than the schema of the database, which has the migrations ${ahead.join(', ')}: restore it into a database without tables. The next startup migrates it.`,
    );
  });
}

/** @throws Error if a table has records of an organization */
export async function assertNoRecords(
  client: pg.Client,
  tables: readonly StoredTable[],
): Promise<void> {
  const filled: string[] = [];
  for (const { name, source } of tables.filter(({ tenant }) => tenant)) {
    const found = await client.query(`select from ${source} limit 1`);
    if (found.rowCount !== 0) filled.push(name);
  }
  if (filled.length === 0) return;
  throw new Error(`The database is not empty (${filled.join(', ')}): ${USE_EMPTY_DATABASE}.`);
}

/** @throws Error that lists the differences between a backup and the schema of a database */
export function assertSameSchema(
  header: BackupHeader,
  target: Pick<BackupHeader, 'migrations' | 'sequences'> & { tables: readonly StoredTable[] },
): void {
  const sequences = header.sequences.map(({ name }) => name);
  const problems = [
    ...missing(header.migrations, target.migrations).map((name) => `migration ${name} is missing`),
    ...missing(target.migrations, header.migrations).map((name) => `migration ${name} has run`),
    ...header.tables.flatMap((stored) => {
      const table = target.tables.find(({ name }) => name === stored.name);
      if (!table) return [`table ${stored.name} is missing`];
      const [inBackup, inTarget] = [columnsOf(stored), columnsOf(table)];
      return [
        ...missing(inBackup, inTarget).map((column) => `${column} is missing`),
        ...missing(inTarget, inBackup).map((column) => `${column} is not in the backup`),
      ];
    }),
    ...missing(
      sequences,
      target.sequences.map(({ name }) => name),
    ).map((name) => `sequence ${name} is missing`),
  ];
  if (problems.length === 0) return;
  throw new Error(`The backup does not fit the schema of the database: ${problems.join('; ')}.`);
}

function columnsOf({ name: table, columns }: Pick<BackupTable, 'name' | 'columns'>): string[] {
  return columns.map(({ name, type }) => `${table}.${name} (${type})`);
}
