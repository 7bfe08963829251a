import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { DataSource } from 'typeorm';
import {
  type DatabaseTarget,
  dataSourceOptions,
  MIGRATIONS,
} from '../../platform/data/connection/data-source-options.js';
import { migrate } from '../../platform/data/migrate.js';
import type { ExtensionMigrations } from '../../platform/data/extension-migrations.js';
import {
  type BackupHeader,
  type BackupReader,
  type BackupSequence,
  type BackupTable,
  countRows,
} from './backup-file.js';
import {
  columnList,
  readMigrations,
  readSchemaName,
  readSequences,
  readTables,
  type StoredTable,
} from './catalogue.js';
import { assertRestorable, assertSameSchema, assertNoRecords } from './restore-checks.js';
import { withConnection } from '../connection.js';
import { inTransaction } from './session.js';
import { suspendConstraints } from './suspended-constraints.js';
import { type BackupProgress, totalRows } from './write-backup.js';

const LOCK_WAIT = '10s';

/**
 * Restores a backup into an empty database. The database gets the schema of the backup; the next
 * startup runs later migrations, as in an upgrade.
 * @param extensionMigrations the migrations of extensions
 * @throws BackupFileError
 * @throws Error whose message is meant for the user if the backup cannot be restored there
 */
export async function restoreBackup(
  target: DatabaseTarget,
  reader: BackupReader,
  progress: BackupProgress,
  extensionMigrations: readonly ExtensionMigrations[] = [],
): Promise<void> {
  const known = MIGRATIONS.map(({ name }) => name);
  await assertRestorable(target, reader.header, known, extensionMigrations);
  await migrateAsFarAs(target, reader.header, extensionMigrations);
  await restoreRows(target, reader, progress);
  await vacuum(target);
}

async function migrateAsFarAs(
  target: DatabaseTarget,
  header: BackupHeader,
  extensionMigrations: readonly ExtensionMigrations[],
): Promise<void> {
  const migrations = MIGRATIONS.filter(({ name }) => header.migrations.includes(name));
  const dataSource = new DataSource({ ...dataSourceOptions(target), migrations });
  await dataSource.initialize();
  try {
    await migrate(dataSource, {
      extensionMigrations: extensionMigrations.map((one) => ({
        ...one,
        migrations: one.migrations.filter(({ name }) =>
          header.ledgers?.[one.table]?.includes(name),
        ),
      })),
    });
  } finally {
    await dataSource.destroy();
  }
}

/**
 * Copies all rows into the empty tables in one transaction. A failure leaves the tables empty.
 */
async function restoreRows(
  target: DatabaseTarget,
  reader: BackupReader,
  progress: BackupProgress,
): Promise<void> {
  const { header } = reader;
  await inTransaction(target, 'read write', async (client) => {
    const tables = await lockTables(client, header);
    const resumeConstraints = await suspendConstraints(client, tables);
    await assertNoRecords(client, tables);
    await progress(totalRows(header), async (advance) => {
      for (const stored of header.tables) {
        const table = tables.find(({ name }) => name === stored.name);
        if (table) await copyRows(client, table, stored, reader, advance);
      }
    });
    await reader.end();
    await resumeConstraints();
    await advanceSequences(client, header.sequences);
  });
}

/** Updates the statistics and the visibility map, which searches and lists need for good plans. */
async function vacuum(target: DatabaseTarget): Promise<void> {
  await withConnection(target, async (client) => {
    await client.query('set statement_timeout = 0');
    const schema = await readSchemaName(client);
    for (const { sql } of await readTables(client, schema ?? '')) {
      await client.query(`vacuum (analyze) ${sql}`);
    }
  });
}

/** Locks the tables of the target exclusively until the transaction ends. */
async function lockTables(client: pg.Client, header: BackupHeader): Promise<StoredTable[]> {
  const schema = await readSchemaName(client);
  if (schema === undefined) throw new Error('The database has no tables of Latitude.');
  const tables = await readTables(client, schema);
  const names = [...tables.map(({ sql }) => sql), 'migrations'].join(', ');
  await client.query(`set local lock_timeout = '${LOCK_WAIT}'`);
  await client.query(`lock table ${names} in access exclusive mode`);
  await client.query('set local lock_timeout = 0');
  assertSameSchema(header, {
    migrations: await readMigrations(client),
    tables,
    sequences: await readSequences(client, schema),
  });
  return tables;
}

async function copyRows(
  client: pg.Client,
  table: StoredTable,
  stored: BackupTable,
  reader: BackupReader,
  advance: (rows: number) => void,
): Promise<void> {
  // A migration may have inserted rows into a table without an `organization_id`.
  if (!table.tenant) await client.query(`delete from ${table.source}`);
  const columns = columnList(client, stored.columns);
  const copy = client.query(copyFrom(`copy ${table.sql} (${columns}) from stdin`));
  await pipeline(Readable.from(counted(reader.rows(stored), advance)), copy);
  if (copy.rowCount !== stored.rows) {
    throw new Error(
      `PostgreSQL accepted ${copy.rowCount} of ${stored.rows} rows of ${table.name}.`,
    );
  }
}

async function* counted(
  chunks: AsyncIterable<Buffer>,
  advance: (rows: number) => void,
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    yield chunk;
    advance(countRows(chunk));
  }
}

async function advanceSequences(
  client: pg.Client,
  sequences: readonly BackupSequence[],
): Promise<void> {
  for (const { name, last_value, is_called } of sequences) {
    const sequence = client.escapeIdentifier(name);
    await client.query('select setval($1::regclass, $2, $3)', [sequence, last_value, is_called]);
  }
}
