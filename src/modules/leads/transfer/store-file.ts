import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { logger } from '../../../platform/config/logger.js';
import type { Call } from '../../../platform/data/call.js';
import type { Column } from './columns.js';
import { decodeText } from './decode-text.js';
import { unescapeFormula } from './file-lines.js';
import {
  assertOptions,
  columnsOf,
  invalidBody,
  matchFieldsOf,
  MAX_COLUMNS,
  optionsOf,
} from './file-plan.js';
import { csvRecords, delimiterOf, ndjsonRecords, type Place, START } from './file-records.js';
import type { ImportPlan } from './lead-import.entity.js';
import type { ImportFormat, LeadImportQuery } from './lead-import.dto.js';
import type { LeadImportsRepository } from './lead-imports.repository.js';

/** Size of the parts in which a file is stored. */
export const CHUNK_BYTES = 262_144;

type Bytes = AsyncIterable<Buffer>;

/** A file that is stored, and how its records are imported. */
export interface StoredFile {
  /** The id of the import. */
  readonly id: string;
  /** SHA-256 of the file as it was sent. */
  readonly hash: string;
  readonly bytes: number;
  /** Number of records. */
  readonly lines: number;
  /** Where the first record begins. */
  readonly first: Place;
  readonly plan: ImportPlan;
}

/**
 * Stores a file in chunks while it checks that all of its records can be read. If one cannot, the chunks are removed.
 * @throws ApiError `validation_error` that names the invalid line, or the columns; `create_failed`; any error of `source`
 */
export async function storeFile(
  repository: LeadImportsRepository,
  call: Call,
  source: Bytes,
  format: ImportFormat,
  query: LeadImportQuery,
): Promise<StoredFile> {
  assertOptions(format, query);
  const id = uuidv7();
  const hash = createHash('sha256');
  let bytes = 0;
  let storedBytes = 0;
  let inserting = Promise.resolve();
  let isRefused = false;
  const hashed = async function* () {
    for await (const chunk of source) {
      hash.update(chunk);
      bytes += chunk.length;
      yield chunk;
    }
  };
  const stored = async function* () {
    let number = 0;
    for await (const chunk of chunksOf(decodeText(hashed(), query.encoding ?? 'utf-8'))) {
      // The stream of the parser reads ahead, also while the file is refused.
      if (isRefused) return;
      inserting = repository.insertChunk(call, id, number++, chunk);
      await inserting;
      storedBytes += chunk.length;
      yield chunk;
    }
  };
  try {
    const read = format === 'csv' ? readCsv : readNdjson;
    const { columns, lines, first, delimiter } = await read(stored(), query);
    const plan = {
      ...{ format, columns, delimiter, storedBytes, ...optionsOf(query) },
      matchOn: matchFieldsOf(columns, query),
    };
    return { id, hash: hash.digest('hex'), bytes, lines, first, plan };
  } catch (error) {
    isRefused = true;
    await inserting.catch(() => undefined);
    await discardFile(repository, call, id);
    throw error;
  }
}

/** Removes a stored file, unless it has an import. It does not throw: the hourly clean-up removes what stays. */
export async function discardFile(
  repository: LeadImportsRepository,
  call: Call,
  id: string,
): Promise<void> {
  try {
    await repository.discardFile(call, id);
  } catch (error) {
    logger.warn({ err: error, import: id }, 'the file of an import was not discarded');
  }
}

/** What the check of a file finds. */
type Found = Pick<StoredFile, 'lines' | 'first'> & Pick<ImportPlan, 'columns' | 'delimiter'>;

async function readCsv(chunks: AsyncGenerator<Buffer>, query: LeadImportQuery): Promise<Found> {
  const start = await chunks.next();
  if (start.done) throw invalidBody('must have a header');
  const delimiter = query.delimiter ?? delimiterOf(start.value.toString());
  let columns: Column[] | undefined;
  let first = START;
  let lines = 0;
  for await (const { cells, next } of csvRecords(prepend(start.value, chunks), delimiter)) {
    if (columns) {
      lines++;
      continue;
    }
    const headers = (cells as readonly string[]).map((header) =>
      (query.escaped === 'latitude' ? unescapeFormula(header) : header).trim(),
    );
    columns = columnsOf(headers, query);
    matchFieldsOf(columns, query);
    first = next;
  }
  if (!columns) throw invalidBody('must have a header');
  return { columns, lines, first, delimiter };
}

async function readNdjson(chunks: Bytes, query: LeadImportQuery): Promise<Found> {
  const names = new Set<string>();
  let lines = 0;
  for await (const { json } of ndjsonRecords(chunks)) {
    for (const name of Object.keys(json?.value ?? {})) names.add(name);
    if (names.size > MAX_COLUMNS) throw invalidBody(`must have at most ${MAX_COLUMNS} columns`);
    lines++;
  }
  const columns = columnsOf([...names], query);
  return { columns, lines, first: START, delimiter: 'comma' };
}

async function* chunksOf(source: Bytes): AsyncGenerator<Buffer> {
  let all: Buffer = Buffer.alloc(0);
  for await (const part of source) {
    all = Buffer.concat([all, part]);
    for (; all.length >= CHUNK_BYTES; all = all.subarray(CHUNK_BYTES)) {
      yield all.subarray(0, CHUNK_BYTES);
    }
  }
  if (all.length > 0) yield all;
}

async function* prepend(first: Buffer, others: Bytes): AsyncGenerator<Buffer> {
  yield first;
  yield* others;
}
