import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import type pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { VERSION } from '../../platform/config/version.js';
import type { DatabaseTarget } from '../../platform/data/connection/data-source-options.js';
import { TENANT_SETTING } from '../../platform/data/connection/session-context.js';
import type { Progress } from '../../platform/extension/command.js';
import { type BackupHeader, countRows, encodeBackup } from './backup-file.js';
import {
  columnList,
  isReadAtOnce,
  isReadByOrganization,
  lockTables,
  readMigrations,
  readSequences,
  ROOT,
  type StoredTable,
} from './catalogue.js';
import { inTransaction } from './transaction.js';

/** All tables are read in one snapshot, as in pg_dump: later commits are not in the backup. */
const ONE_SNAPSHOT = 'isolation level repeatable read, read only';

/** Earlier schemas do not have it. */
const OPERATORS = 'operator_keys';

interface CountedTable extends StoredTable {
  readonly rows: number;
}

/**
 * Writes all rows of the schema in one snapshot. Readers and writers are not blocked.
 * @param signal ends the backup, which then fails
 * @returns the header of the backup
 * @throws Error whose message is meant for the user if a row cannot be read
 */
export async function writeBackup(
  target: DatabaseTarget,
  sink: NodeJS.WritableStream,
  progress: Progress,
  signal?: AbortSignal,
): Promise<BackupHeader> {
  return inTransaction(target, ONE_SNAPSHOT, async (client) => {
    // Migrations must not change the tables meanwhile.
    const tables = await lockTables(client, 'access share');
    for (const table of tables) {
      if (isReadAtOnce(table) || isReadByOrganization(table)) continue;
      throw new Error(
        `Row-level security hides rows of ${table.name} from the database user, by another policy than that of tenants: make the backup as a superuser or as a role with BYPASSRLS.`,
      );
    }
    const owners = await readOwners(client, tables);
    const counted: CountedTable[] = [];
    for (const table of tables) {
      signal?.throwIfAborted();
      counted.push({ ...table, rows: await countTable(client, table, owners) });
    }
    const { migrations = [], ...ledgers } = await readMigrations(client);
    const header: BackupHeader = {
      latitude: VERSION,
      created_at: new Date().toISOString(),
      migrations,
      ledgers,
      tables: counted.map(({ name, columns, rows }) => ({ name, columns, rows })),
      sequences: await readSequences(client),
    };
    await progress(totalRows(header), (advance) => {
      const contents = counted.map((table) => copyTable(client, table, owners, advance));
      const bytes = encodeBackup(header, contents);
      return pipeline(bytes, createGzip(), sink, { end: sink !== process.stdout, signal });
    });
    return header;
  });
}

export function totalRows({ tables }: BackupHeader): number {
  return tables.reduce((sum, { rows }) => sum + rows, 0);
}

/** The rows of a table in the text format of COPY. */
async function* copyTable(
  client: pg.Client,
  table: CountedTable,
  owners: readonly string[],
  advance: (rows: number) => void,
): AsyncGenerator<Buffer> {
  const { name, rows, source } = table;
  const copy = `copy (select ${columnList(client, table.columns)} from ${source}) to stdout`;
  let written = 0;
  for (const organization of passes(table, owners)) {
    await setOrganization(client, organization);
    for await (const chunk of client.query(copyTo(copy)) as AsyncIterable<Buffer>) {
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

async function countTable(
  client: pg.Client,
  table: StoredTable,
  owners: readonly string[],
): Promise<number> {
  let count = 0;
  for (const organization of passes(table, owners)) {
    await setOrganization(client, organization);
    const { rows } = await client.query<{ count: string }>(`select count(*) from ${table.source}`);
    count += Number(rows[0]?.count);
  }
  return count;
}

/** The ids of organizations, and of operators, whose entries of the audit log have their id in place of an organization. */
async function readOwners(client: pg.Client, tables: readonly StoredTable[]): Promise<string[]> {
  const hasOperators = tables.some(({ name }) => name === OPERATORS);
  const operators = hasOperators ? ` union select operator_id from ${OPERATORS}` : '';
  const { rows } = await client.query<{ id: string }>(`select id from ${ROOT}${operators}`);
  return rows.map(({ id }) => id);
}

/**
 * The organizations and operators by which a table is read: each one if row-level security hides rows from the connected
 * user, otherwise none, in a single pass over all rows.
 */
function passes(table: StoredTable, owners: readonly string[]) {
  return isReadAtOnce(table) ? [''] : owners;
}

/** Sets the organization whose rows row-level security shows. */
async function setOrganization(client: pg.Client, organization: string): Promise<void> {
  await client.query(`select set_config('${TENANT_SETTING}', $1, true)`, [organization]);
}
