import { once } from 'node:events';
import { createReadStream, existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Command } from 'commander';
import { BackupFileError, type BackupHeader, BackupReader } from '../backup/backup-file.js';
import { readMigrations } from '../backup/catalogue.js';
import { restoreBackup, type RestoreOptions } from '../backup/restore-backup.js';
import { totalRows, writeBackup } from '../backup/write-backup.js';
import { withConnection } from '../connection.js';
import { assertCurrentSchema, hasSchema } from '../../platform/data/executed-migrations.js';
import type { ExtensionMigrations } from '../../platform/data/extension-migrations.js';
import { TenantDataService } from '../../platform/data/records/tenant-data.service.js';
import type { Extension } from '../../platform/extension/extension.js';
import { extensionMigrationsOf } from '../../platform/extension/extensions.js';
import { eachOrganization } from './each-organization.js';
import { applyErasures, type ErasedLead, readErasures } from './erasures.js';
import { isJson, OutputError, writeResult } from './output.js';
import { fileExists, partialFilesBeside, writeFileAtOnce } from './partial-file.js';
import type { CommandContext, RunOnDatabase } from './run.js';

/** Names standard input or output in place of a file. */
const STANDARD_STREAM = '-';

/** `latitude backup`. */
export function addBackup(
  program: Command,
  runOnDatabase: RunOnDatabase,
  extensions: readonly Extension[],
): void {
  program
    .command('backup')
    .description('write a snapshot of all data to a file')
    .argument('<file>', 'the file to write, or - for standard output')
    .option('--force', 'replace the file if it exists')
    .action(async (file: string, { force = false }: { force?: boolean }) => {
      const isStandard = file === STANDARD_STREAM;
      if (isStandard && process.stdout.isTTY) {
        throw new Error('A backup is not written to a terminal: name a file, or redirect it.');
      }
      if (isStandard && isJson(program)) {
        throw new Error('A backup on standard output leaves no room for --json: name a file.');
      }
      if (!isStandard && !force && existsSync(file)) throw fileExists(file);
      await runOnDatabase(async (context) => {
        await assertCurrent(context, extensionMigrationsOf(extensions));
        return isStandard ? toStandardOutput(context) : toFile(context, file, force);
      });
    });
}

const NOT_ERASED =
  'The backup was restored, but not all erasures were applied: run "latitude erasures apply FILE" before you start the server.';

interface RestoreArguments {
  readonly verify?: boolean;
  readonly resume?: boolean;
  readonly erasures?: string;
}

/** `latitude restore`. */
export function addRestore(
  program: Command,
  runOnDatabase: RunOnDatabase,
  extensions: readonly Extension[],
): void {
  program
    .command('restore')
    .description('restore the data of a backup into an empty database')
    .argument('<file>', 'the file of a backup, or - for standard input')
    .option('--verify', 'only verify the file and print what it contains; no database is needed')
    .option(
      '--erasures <file>',
      'erase the leads of a file of "erasures export" in the restored data',
    )
    .option(
      '--resume',
      'continue webhooks, imports and jobs of extensions, in a database that replaces the original',
    )
    .action(async (file: string, { verify = false, resume, erasures }: RestoreArguments) => {
      if (file === STANDARD_STREAM && process.stdin.isTTY) {
        throw new Error('A backup is not read from a terminal: name a file, or redirect one.');
      }
      try {
        if (verify) {
          const reader = await openFile(file);
          await reader.verify();
          writeResult(summaryOf(reader.header), isJson(program));
          return;
        }
        // The files are checked before a database is opened.
        const erased = erasures === undefined ? [] : await readErasures(erasures);
        if (file !== STANDARD_STREAM) await (await openFile(file)).verify();
        const reader = await openFile(file);
        const options = { extensionMigrations: extensionMigrationsOf(extensions), resume };
        await runOnDatabase((context) => restore(context, reader, options, erased));
      } catch (error) {
        if (!(error instanceof BackupFileError)) throw error;
        const name = file === STANDARD_STREAM ? 'Standard input' : file;
        throw new Error(`${name} ${error.message}. Nothing was restored.`, { cause: error });
      }
    });
}

/** @throws Error whose message says what to do if the schema of the database is not that of this program */
async function assertCurrent(
  { database }: CommandContext,
  extensionMigrations: readonly ExtensionMigrations[],
): Promise<void> {
  const executed = await withConnection(database.target, readMigrations);
  if (hasSchema(executed)) assertCurrentSchema(executed, extensionMigrations);
}

async function toFile({ database, progress }: CommandContext, file: string, force: boolean) {
  for (const partial of await partialFilesBeside(file)) {
    console.error(`latitude: ${partial} is incomplete: its backup still runs, or was killed.`);
  }
  const header = await writeFileAtOnce(file, force, (sink) =>
    writeBackup(database.target, sink, progress),
  );
  return { file, bytes: (await stat(file)).size, ...summaryOf(header) };
}

/** Writes only the backup to standard output. @throws OutputError */
async function toStandardOutput({ database, progress }: CommandContext): Promise<void> {
  const { stdout } = process;
  const failures: OutputError[] = [];
  stdout.once('error', (error: Error) => {
    failures.push(new OutputError(error));
  });
  try {
    await writeBackup(database.target, stdout, progress);
    if (stdout.writableNeedDrain) await once(stdout, 'drain');
  } catch (error) {
    throw failures[0] ?? error;
  }
}

async function restore(
  { database, progress, withMigratingApp }: CommandContext,
  reader: BackupReader,
  options: RestoreOptions,
  erased: readonly ErasedLead[],
) {
  const held = await restoreBackup(database.target, reader, progress, options);
  return withMigratingApp(async (app) => {
    const erasures = await applyErasures(app, erased, progress).catch((cause: unknown) => {
      throw new Error(NOT_ERASED, { cause });
    });
    // Counters may have been wrong when the backup was made.
    const repaired = await eachOrganization(app, (call) =>
      app.get(TenantDataService).repairCounts(call),
    );
    const counters = { counters_repaired: repaired.flat().length };
    return { ...summaryOf(reader.header), ...counters, ...erasures, ...held };
  });
}

function openFile(file: string): Promise<BackupReader> {
  return BackupReader.open(file === STANDARD_STREAM ? process.stdin : createReadStream(file));
}

/** `schema` is the last migration. */
function summaryOf(header: BackupHeader) {
  const { latitude, created_at, migrations, tables } = header;
  const rows = Object.fromEntries(tables.map((table) => [table.name, table.rows]));
  const schema = migrations.at(-1) ?? null;
  return { created_at, latitude, schema, rows: totalRows(header), tables: rows };
}
