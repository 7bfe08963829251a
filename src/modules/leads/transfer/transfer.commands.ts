import { createReadStream, createWriteStream } from 'node:fs';
import { open, rm, stat } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { INestApplicationContext, Type } from '@nestjs/common';
import type { Command } from 'commander';
import { onStopSignal } from '../../../platform/config/stop-signals.js';
import { validationError } from '../../../platform/errors/api-error.js';
import { commandCallOf } from '../../../platform/extension/command-call.js';
import { uuid } from '../../../platform/extension/command-options.js';
import type { Progress, Run } from '../../../platform/extension/command.js';
import type { Call } from '../../../platform/data/call.js';
import { QUERY_PARAMETERS, readInput } from '../../../platform/fields/input/read-input.js';
import { LeadExportQuery } from './lead-export.dto.js';
import { LeadImportQuery, MAX_FILE_BYTES } from './lead-import.dto.js';
import { LeadExportsService } from './lead-exports.service.js';
import { LeadImportsService } from './lead-imports.service.js';

const STANDARD_STREAM = '-';

/** Only the owner may read an export, because it contains personal data. */
const PRIVATE = 0o600;

/** How often the command looks for the progress of an import. */
const POLL_MS = 500;

/** After this time, the command itself runs a job that no server has taken. Servers look for jobs each second. */
const WAIT_FOR_SERVER_MS = 3_000;

interface Options extends Readonly<
  Record<string, string | boolean | readonly string[] | undefined>
> {
  readonly organization: string;
}

interface ImportOptions extends Options {
  readonly rejected?: string;
  readonly results?: string;
}

const isNdjson = (file: string): boolean => /\.(ndjson|jsonl)$/i.test(file);

/** `latitude leads import` and `export`. */
export function addTransferCommands(leads: Command, run: Run): void {
  leads
    .command('import')
    .description('create and update leads from a file, and exit with 1 if a line is rejected')
    .argument('<file>', 'CSV, or NDJSON with the extension .ndjson or .jsonl')
    .requiredOption('--organization <id>', 'organization of the leads', uuid)
    .option('--mode <mode>', 'create_or_update, update_only or create_only')
    .option('--match-on <fields>', 'id, external_id, email and phone, separated by commas')
    .option('--map <json>', 'JSON object of columns and fields')
    .option('--set <json>', 'JSON object of fields that all lines have')
    .option('--unknown-columns <way>', 'refuse or custom_fields')
    .option('--encoding <name>', 'utf-8, utf-16 or windows-1252')
    .option('--delimiter <name>', 'comma, semicolon, tab or pipe')
    .option('--clear-empty', 'let empty cells clear their fields')
    .option(
      '--escaped <way>',
      'latitude for a file in which Latitude has escaped formulas, or none',
    )
    .option('--dry-run', 'write no lead')
    .option('--rejected <file>', 'write the rejected lines to this file')
    .option('--results <file>', 'write the line, action and lead of each record to this file')
    .action((file: string, options: ImportOptions) =>
      run((app, progress) => importFile(app, file, options, progress)),
    );
  leads
    .command('export')
    .description('write all leads that match to a file')
    .argument('[file]', 'the file to write, or - for standard output', STANDARD_STREAM)
    .requiredOption('--organization <id>', 'organization of the leads', uuid)
    .option('--format <format>', 'csv or ndjson')
    .option('--escape <way>', 'formulas or none')
    .option('--delimiter <name>', 'comma, semicolon, tab or pipe')
    .option('--bom', 'begin with a byte order mark')
    .option('--filter <name=value...>', 'filters of the list of leads')
    .action((file: string, options: Options & { filter?: string[] }, command: Command) => {
      const { json } = command.optsWithGlobals<{ json?: boolean }>();
      if (json && file === STANDARD_STREAM) command.error('error: --json needs a file to write to');
      return run((app) => exportToFile(app, file, options));
    });
}

async function importFile(
  app: INestApplicationContext,
  file: string,
  { organization, rejected, results, ...options }: ImportOptions,
  progress: Progress,
) {
  const query = queryOf(LeadImportQuery, options);
  const call = await commandCallOf(app, organization);
  const imports = app.get(LeadImportsService);
  const { size } = await stat(file);
  if (size > MAX_FILE_BYTES) throw new Error(`${file} is larger than ${MAX_FILE_BYTES} bytes.`);
  // A file that cannot be written is reported before anything is imported.
  for (const path of [rejected, results]) {
    if (path !== undefined) await (await open(path, 'a', PRIVATE)).close();
  }
  const format = isNdjson(file) ? 'ndjson' : 'csv';
  const source = { bytes: createReadStream(file) };
  const stored = await imports.receive(call, source, format, query);
  const { id } = await imports.start(call, stored, query);
  const removeListeners = onStopSignal(() => {
    // If this fails, the database is gone. Then the import fails too, and the command reports its error.
    void imports.cancel(call, id).catch(() => undefined);
  });
  try {
    await progress(stored.lines, (advance) => untilEnded(imports, call, id, advance));
  } finally {
    removeListeners();
  }
  if (rejected !== undefined) {
    const { lines } = await imports.rejected(call, id, { escape: 'formulas' });
    await pipeline(lines, createWriteStream(rejected, { mode: PRIVATE }));
  }
  if (results !== undefined) {
    const format = isNdjson(results) ? 'ndjson' : 'csv';
    const lines = await imports.results(call, id, { format });
    await pipeline(lines, createWriteStream(results, { mode: PRIVATE }));
  }
  const result = await imports.get(call, id);
  if (result.status !== 'completed' || result.rejected > 0) process.exitCode = 1;
  return result;
}

/** Waits until an import has ended, and runs its job and those before it if no server does. */
async function untilEnded(
  imports: LeadImportsService,
  call: Call,
  id: string,
  advance: (records: number) => void,
): Promise<void> {
  const sentAt = performance.now();
  let shown = 0;
  let work: Promise<void> | undefined;
  for (;;) {
    const { processed, ended_at } = await imports.get(call, id);
    advance(processed - shown);
    shown = processed;
    if (ended_at) break;
    if (performance.now() - sentAt > WAIT_FOR_SERVER_MS) {
      // One job at a time, oldest first: the jobs of earlier imports precede that of this one. A failed job is tried again.
      work ??= imports
        .runNextJob(call)
        .catch(() => undefined)
        .finally(() => (work = undefined));
    }
    await wait(POLL_MS);
  }
  await work;
}

/** The filters by name. A name that is given several times has a list of values. */
function filtersOf(given: readonly string[]): ReadonlyMap<string, string | string[]> {
  const filters = new Map<string, string | string[]>();
  for (const one of given) {
    const [name = '', value] = one.split(/=(.*)/s, 2);
    if (value === undefined) throw new Error(`--filter ${one} has no value: write ${one}=value.`);
    const others = filters.get(name);
    filters.set(name, others === undefined ? value : [others, value].flat());
  }
  return filters;
}

async function exportToFile(
  app: INestApplicationContext,
  file: string,
  { organization, filter = [], ...options }: Options & { readonly filter?: readonly string[] },
): Promise<{ file: string } | undefined> {
  const query = queryOf(LeadExportQuery, options, filtersOf(filter));
  const call = await commandCallOf(app, organization);
  const isStandard = file === STANDARD_STREAM;
  // A file that exists is not replaced.
  const sink = isStandard ? process.stdout : (await open(file, 'wx', PRIVATE)).createWriteStream();
  try {
    const leads = await app.get(LeadExportsService).export(call, query);
    await pipeline(leads, sink, { end: !isStandard });
  } catch (error) {
    if (!isStandard) await rm(file, { force: true });
    throw error;
  }
  return isStandard ? undefined : { file };
}

/**
 * Reads the options of a command, and filters, as the query of the route.
 * @throws ApiError `validation_error` that names an option as its parameter, such as `clear_empty` for `--clear-empty`
 */
function queryOf<T extends object>(
  dto: Type<T>,
  options: Omit<Options, 'organization'>,
  filters: ReadonlyMap<string, string | string[]> = new Map(),
): T {
  const given = Object.entries(options).flatMap(([name, value]) => {
    const parameter = name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (value === undefined) return [];
    return [[parameter, Array.isArray(value) ? value : String(value)] as const];
  });
  const parameters = Object.fromEntries([...filters, ...given]);
  const { value, problems } = readInput(dto, parameters, [], QUERY_PARAMETERS);
  if (problems.length > 0) throw validationError(problems);
  return value;
}
