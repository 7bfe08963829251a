import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import { DataSource } from 'typeorm';
import {
  type DatabaseTarget,
  dataSourceOptions,
  MIGRATIONS,
} from '../../platform/data/connection/data-source-options.js';
import { namesOf } from '../../platform/data/executed-migrations.js';
import { migrate } from '../../platform/data/migrate.js';
import type { ExtensionMigrations } from '../../platform/data/extension-migrations.js';
import type { Progress } from '../../platform/extension/command.js';
import type { BackupHeader, BackupReader } from './backup-file.js';
import { columnList, lockTables, readMigrations, readSequences, readTables } from './catalogue.js';
import { assertRestorable, assertSameSchema, assertNoRecords } from './restore-checks.js';
import { withConnection } from '../connection.js';
import { type HeldWork, holdWork } from './hold-work.js';
import { inTransaction } from './transaction.js';
import { suspendConstraints } from './suspended-constraints.js';
import { totalRows } from './write-backup.js';

const LOCK_WAIT = '10s';

export interface RestoreOptions {
  readonly extensionMigrations?: readonly ExtensionMigrations[];
  readonly resume?: boolean;
}

/**
 * Restores a backup into an empty database. The database gets the schema of the backup; the next
 * startup runs later migrations, as in an upgrade.
 * @param options.extensionMigrations the migrations of extensions
 * @param options.resume whether the database replaces the original, and continues its work
 * @returns the work that was held back
 * @throws BackupFileError
 * @throws Error whose message is meant for the user if the backup cannot be restored there
 */
export async function restoreBackup(
  target: DatabaseTarget,
  reader: BackupReader,
  progress: Progress,
  { extensionMigrations = [], resume = false }: RestoreOptions = {},
): Promise<HeldWork | undefined> {
  await assertRestorable(target, reader.header, extensionMigrations);
  await migrateAsFarAs(target, reader.header, extensionMigrations);
  const held = await restoreRows(target, reader, progress, resume);
  await vacuum(target);
  return held;
}

async function migrateAsFarAs(
  target: DatabaseTarget,
  header: BackupHeader,
  extensionMigrations: readonly ExtensionMigrations[],
): Promise<void> {
  const dataSource = new DataSource({
    ...dataSourceOptions(target),
    migrations: executedOf(MIGRATIONS, header.migrations),
  });
  await dataSource.initialize();
  try {
    await migrate(dataSource, {
      extensionMigrations: extensionMigrations.map((one) => ({
        ...one,
        migrations: executedOf(one.migrations, header.ledgers?.[one.table]),
      })),
    });
  } finally {
    await dataSource.destroy();
  }
}

/** The migrations that a backup names. */
function executedOf(migrations: ExtensionMigrations['migrations'], names: readonly string[] = []) {
  return migrations.filter((migration) => {
    return namesOf([migration]).every((name) => names.includes(name));
  });
}

/**
 * Copies all rows into the empty tables in one transaction, in which no other can use the tables. A failure leaves the
 * tables empty.
 */
async function restoreRows(
  target: DatabaseTarget,
  reader: BackupReader,
  progress: Progress,
  resume: boolean,
): Promise<HeldWork | undefined> {
  const { header } = reader;
  return inTransaction(target, 'read write', async (client) => {
    await client.query(`set local lock_timeout = '${LOCK_WAIT}'`);
    const tables = await lockTables(client, 'access exclusive', ['migrations']);
    await client.query('set local lock_timeout = 0');
    const { migrations = [] } = await readMigrations(client);
    assertSameSchema(header, { migrations, tables, sequences: await readSequences(client) });
    const resumeConstraints = await suspendConstraints(client, tables);
    await assertNoRecords(client, tables);
    const hold = resume ? undefined : await holdWork(client, tables);
    await progress(totalRows(header), async (advance) => {
      for (const stored of header.tables) {
        const table = tables.find(({ name }) => name === stored.name);
        if (!table) continue;
        // A migration may have inserted rows into a table without an `organization_id`.
        if (!table.tenant) await client.query(`delete from ${table.source}`);
        // The columns of the backup can have another order.
        const copy = `copy ${table.sql} (${columnList(client, stored.columns)}) from stdin`;
        await pipeline(reader.rows(stored, advance), client.query(copyFrom(copy)));
      }
    });
    await reader.end();
    const held = await hold?.();
    await resumeConstraints();
    for (const { name, last_value, is_called } of header.sequences) {
      const sequence = client.escapeIdentifier(name);
      await client.query('select setval($1::regclass, $2, $3)', [sequence, last_value, is_called]);
    }
    return held;
  });
}

/** Updates the statistics and the visibility map, which searches and lists need for good plans. */
async function vacuum(target: DatabaseTarget): Promise<void> {
  await withConnection(target, async (client) => {
    await client.query('set statement_timeout = 0');
    for (const { sql } of await readTables(client)) {
      await client.query(`vacuum (analyze) ${sql}`);
    }
  });
}
