import { createHash } from 'node:crypto';
import { v7 as uuidv7 } from 'uuid';
import { logger } from '../../../platform/config/logger.js';
import type { Call } from '../../../platform/data/call.js';
import { ApiError } from '../../../platform/errors/api-error.js';
import { giveWay } from '../../../platform/give-way.js';
import type { Column } from './columns.js';
import { decodeText, encodingOf } from './decode-text.js';
import { textOfCell } from './file-lines.js';
import {
  assertOptions,
  columnsOf,
  invalidBody,
  type FileQuery,
  matchFieldsOf,
  MAX_COLUMNS,
  optionsOf,
} from './file-plan.js';
import {
  csvRecords,
  declaredDelimiterOf,
  delimiterOf,
  ndjsonRecords,
  type Place,
  START,
} from './file-records.js';
import type { ImportPlan } from './lead-import.entity.js';
import { type ImportFormat, MAX_FILE_BYTES } from './lead-import.dto.js';
import type { LeadImportsRepository } from './lead-imports.repository.js';
import { UTF8 } from './text-shape.js';

/** Size of the parts in which a file is stored. */
export const CHUNK_BYTES = 262_144;

/** Size of the parts in which a file is decoded. A client can send it in much smaller ones. */
const RECEIVED_BYTES = 65_536;

type Bytes = AsyncIterable<Buffer>;

/** A file while it is sent. */
export interface SentFile {
  readonly bytes: Bytes;
  /** That of its content type. */
  readonly charset?: string | undefined;
}

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
  source: SentFile,
  format: ImportFormat,
  query: FileQuery,
): Promise<StoredFile> {
  assertOptions(format, query);
  const encoding = encodingOf(query.encoding, source.charset);
  const file = new ReceivedFile(uuidv7());
  const chunks = file.chunks(source.bytes, encoding, (number, chunk) =>
    repository.insertChunk(call, file.id, number, chunk),
  );
  try {
    const read = format === 'csv' ? readCsv : readNdjson;
    const { columns, lines, first, delimiter } = await read(chunks, query);
    const { id, bytes, storedBytes, text } = file;
    const plan = {
      ...{ format, columns, delimiter, storedBytes, text, ...optionsOf(query) },
      matchOn: matchFieldsOf(columns, query),
    };
    return { id, hash: file.hash(), bytes, lines, first, plan };
  } catch (error) {
    // The rest of the source is not read.
    await chunks.return(undefined);
    await discardFile(repository, call, file.id);
    throw error;
  }
}

/** A file while it is received: what is counted of it, in the encoding of the client and in UTF-8. */
class ReceivedFile {
  bytes = 0;
  storedBytes = 0;
  text = UTF8;
  private readonly sha256 = createHash('sha256');

  constructor(readonly id: string) {}

  /** SHA-256 of the bytes of the client. */
  hash(): string {
    return this.sha256.digest('hex');
  }

  /** Returns the file in UTF-8, in chunks that are stored. */
  async *chunks(
    source: Bytes,
    encoding: ReturnType<typeof encodingOf>,
    store: (number: number, chunk: Buffer) => Promise<void>,
  ): AsyncGenerator<Buffer> {
    const decoded = decodeText(this.received(source), encoding, (shape) => (this.text = shape));
    let number = 0;
    for await (const chunk of chunksOf(decoded, CHUNK_BYTES)) {
      this.storedBytes += chunk.length;
      if (this.storedBytes > MAX_FILE_BYTES) throw tooLarge();
      await store(number++, chunk);
      yield chunk;
    }
  }

  private async *received(source: Bytes): AsyncGenerator<Buffer> {
    for await (const chunk of chunksOf(source, RECEIVED_BYTES)) {
      this.sha256.update(chunk);
      this.bytes += chunk.length;
      yield chunk;
    }
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

async function readCsv(chunks: AsyncGenerator<Buffer>, query: FileQuery): Promise<Found> {
  const start = await chunks.next();
  if (start.done) throw invalidBody('must have a header');
  const text = start.value.toString();
  const declared = declaredDelimiterOf(text);
  const delimiter = query.delimiter ?? declared ?? delimiterOf(text);
  let isDeclaration = declared !== undefined;
  let columns: Column[] | undefined;
  let first = START;
  let lines = 0;
  for await (const { cells, next } of csvRecords(prepend(start.value, chunks), delimiter)) {
    if (columns) {
      lines++;
    } else if (isDeclaration) {
      isDeclaration = false;
    } else {
      const headers = (cells as readonly string[]).map((header) =>
        textOfCell(header, query.escaped === 'latitude').trim(),
      );
      columns = columnsOf(headers, query);
      matchFieldsOf(columns, query);
      first = next;
    }
  }
  if (!columns) throw invalidBody('must have a header');
  return { columns, lines, first, delimiter };
}

async function readNdjson(chunks: Bytes, query: FileQuery): Promise<Found> {
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

/** Joins and divides parts into chunks of a size. The last one can be smaller. */
async function* chunksOf(source: Bytes, size: number): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const part of source) {
    const turn = giveWay();
    if (turn) await turn;
    parts.push(part);
    length += part.length;
    if (length < size) continue;
    let all = Buffer.concat(parts);
    for (; all.length >= size; all = all.subarray(size)) yield all.subarray(0, size);
    parts = [all];
    ({ length } = all);
  }
  if (length > 0) yield Buffer.concat(parts);
}

async function* prepend(first: Buffer, others: Bytes): AsyncGenerator<Buffer> {
  yield first;
  yield* others;
}

function tooLarge(): ApiError {
  const message = `The file is larger than ${MAX_FILE_BYTES} bytes in UTF-8.`;
  return new ApiError('payload_too_large', { message });
}
