import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { VERSION } from '../../platform/config/version.js';
import type { DatabaseTarget } from '../../platform/data/connection/data-source-options.js';
import { TENANT_SETTING } from '../../platform/data/connection/session-context.js';
import { type BackupHeader, type BackupTable, countRows, encodeBackup } from './backup-file.js';
import {
  columnList,
  isReadByOrganization,
  readExtensionMigrations,
  readMigrations,
  readSchemaName,
  readSequences,
  readTables,
  type StoredTable,
} from './catalogue.js';
import { inTransaction } from './session.js';

/** All tables are read in one snapshot, as in pg_dump: later commits are not in the backup. */
const ONE_SNAPSHOT = 'isolation level repeatable read, read only';

/** Shows the progress in rows. */
export type BackupProgress = <T>(
  total: number,
  work: (advance: (rows: number) => void) => Promise<T>,
) => Promise<T>;

/**
 * Writes all rows of the schema in one snapshot. Readers and writers are not blocked.
 * @returns the header of the backup
 * @throws Error whose message is meant for the user if a row cannot be read
 */
export async function writeBackup(
  target: DatabaseTarget,
  sink: NodeJS.WritableStream,
  progress: BackupProgress,
): Promise<BackupHeader> {
  return inTransaction(target, ONE_SNAPSHOT, async (client) => {
    const backup = await Backup.begin(client);
    const { header } = backup;
    await progress(totalRows(header), (advance) => {
      const bytes = encodeBackup(header, (table) => backup.rows(table, advance));
      return pipeline(bytes, createGzip(), sink, { end: sink !== process.stdout });
    });
    return header;
  });
}

export function totalRows({ tables }: BackupHeader): number {
  return tables.reduce((sum, { rows }) => sum + rows, 0);
}

/** The tables of one snapshot. */
class Backup {
  private constructor(
    private readonly client: pg.Client,
    private readonly tables: ReadonlyMap<string, StoredTable>,
    private readonly organizations: readonly string[],
    readonly header: BackupHeader,
  ) {}

  static async begin(client: pg.Client): Promise<Backup> {
    const schema = await readSchemaName(client);
    if (schema === undefined) throw new Error('The database has no tables of Latitude.');
    const tables = await readTables(client, schema);
    // Migrations must not change the tables meanwhile.
    await client.query(
      `lock table ${tables.map(({ sql }) => sql).join(', ')} in access share mode`,
    );
    tables.forEach(assertAllRowsReadable);
    const organizations = await client.query<{ id: string }>('select id from organizations');
    const ids = organizations.rows.map(({ id }) => id);
    const counted: BackupTable[] = [];
    for (const table of tables) {
      const { name, columns } = table;
      counted.push({ name, columns, rows: await countTable(client, table, ids) });
    }
    const header: BackupHeader = {
      latitude: VERSION,
      created_at: new Date().toISOString(),
      migrations: await readMigrations(client),
      ledgers: await readExtensionMigrations(client, schema),
      tables: counted,
      sequences: await readSequences(client, schema),
    };
    return new Backup(client, new Map(tables.map((table) => [table.name, table])), ids, header);
  }

  /** The rows of a table in the text format of COPY. */
  async *rows(
    { name, rows }: BackupTable,
    advance: (rows: number) => void,
  ): AsyncGenerator<Buffer> {
    const table = this.tables.get(name);
    if (!table) return;
    const columns = columnList(this.client, table.columns);
    const copy = `copy (select ${columns} from ${table.source}) to stdout`;
    let written = 0;
    for (const organization of passes(table, this.organizations)) {
      await setOrganization(this.client, organization);
      for await (const chunk of this.client.query(copyTo(copy)) as AsyncIterable<Buffer>) {
        const count = countRows(chunk);
        written += count;
        advance(count);
        yield chunk;
      }
    }
    if (written !== rows) {
      throw new Error(`PostgreSQL sent ${written} rows of ${name}, but the snapshot has ${rows}.`);
    }
  }
}

async function countTable(
  client: pg.Client,
  table: StoredTable,
  organizations: readonly string[],
): Promise<number> {
  let count = 0;
  for (const organization of passes(table, organizations)) {
    await setOrganization(client, organization);
    const { rows } = await client.query<{ count: string }>(`select count(*) from ${table.source}`);
    count += Number(rows[0]?.count);
  }
  return count;
}

/**
 * The organizations by which a table is read: each one if row-level security applies to the connected
 * user, otherwise a single pass over all rows.
 */
function passes(table: StoredTable, organizations: readonly string[]) {
  return table.restricted ? organizations : [undefined];
}

/** Sets the organization whose rows row-level security shows. */
async function setOrganization(client: pg.Client, organization: string | undefined): Promise<void> {
  if (organization === undefined) return;
  await client.query(`select set_config('${TENANT_SETTING}', $1, true)`, [organization]);
}

/** @throws Error if row-level security hides rows from every organization */
function assertAllRowsReadable(table: StoredTable): void {
  if (!table.restricted || isReadByOrganization(table)) return;
  throw new Error(
    `Row-level security hides rows of ${table.name} from the database user, by another policy than that of tenants: make the backup as a superuser or as a role with BYPASSRLS.`,
  );
}
