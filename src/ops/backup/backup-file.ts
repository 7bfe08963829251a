import { pipeline, type Readable } from 'node:stream';
import { crc32, createGunzip } from 'node:zlib';
import { jsonOf } from '../../platform/fields/kinds/json-object.js';

/**
 * A backup is compressed by gzip. It consists of this line and of frames. A frame is the length and the
 * CRC-32 of its content, four bytes each, and the content. The first frame is the header as JSON. The rows
 * of each table follow in the text format of COPY, terminated by an empty frame. The last frame is `END`.
 */
const MAGIC = Buffer.from('latitude backup 1\n');
const END = Buffer.from('end of backup');
const PREFIX_BYTES = 8;
const MAX_FRAME_BYTES = 2 ** 28;
const NEW_LINE = 0x0a;

/** The first byte of a file of gzip. */
const GZIP = 0x1f;

const NO_BACKUP = 'is no backup that this version of Latitude can read';
const CUT_OFF = 'is cut off';
const TRAILING_BYTES = 'is damaged: other bytes follow its end';

export interface BackupColumn {
  readonly name: string;
  readonly type: string;
}

export interface BackupTable {
  readonly name: string;
  readonly columns: readonly BackupColumn[];
  readonly rows: number;
}

export interface BackupSequence {
  readonly name: string;
  readonly last_value: string;
  readonly is_called: boolean;
}

export interface BackupHeader {
  /** The version of Latitude that wrote the backup. */
  readonly latitude: string;
  readonly created_at: string;
  /** The names of the executed migrations in their order. */
  readonly migrations: readonly string[];
  /** The names of the executed migrations of extensions by the table that records them. */
  readonly ledgers?: Readonly<Record<string, readonly string[]>>;
  readonly tables: readonly BackupTable[];
  readonly sequences: readonly BackupSequence[];
}

/** The file is not a backup, or is incomplete or damaged. */
export class BackupFileError extends Error {}

/**
 * Encodes a backup without compression.
 * @param contents the rows of each table
 */
export async function* encodeBackup(
  header: BackupHeader,
  contents: readonly AsyncIterable<Buffer>[],
): AsyncGenerator<Buffer> {
  yield MAGIC;
  yield* frame(Buffer.from(JSON.stringify(header)));
  for (const rows of contents) {
    for await (const chunk of rows) yield* frame(chunk);
    yield* frame(Buffer.alloc(0));
  }
  yield* frame(END);
}

function frame(content: Buffer): Buffer[] {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(content.length, 0);
  prefix.writeUInt32BE(crc32(content), 4);
  return [prefix, content];
}

/** Counts the rows in a chunk of COPY text, which escapes line feeds in values. */
export function countRows(chunk: Buffer): number {
  let rows = 0;
  for (let at = chunk.indexOf(NEW_LINE); at >= 0; at = chunk.indexOf(NEW_LINE, at + 1)) rows++;
  return rows;
}

/** Reads a backup in order. Only content with a valid checksum is returned. */
export class BackupReader {
  private constructor(
    private readonly bytes: ByteReader,
    readonly header: BackupHeader,
  ) {}

  /** @throws BackupFileError */
  static async open(source: Readable): Promise<BackupReader> {
    const bytes = new ByteReader(decompress(source));
    const magic = await bytes.takeUpTo(MAGIC.length);
    if (!MAGIC.subarray(0, magic.length).equals(magic)) throw new BackupFileError(NO_BACKUP);
    if (magic.length < MAGIC.length) throw new BackupFileError(CUT_OFF);
    const header = jsonOf((await readFrame(bytes)).toString()) as BackupHeader | null | undefined;
    const lists = [header?.tables, header?.migrations, header?.sequences];
    if (header && lists.every((list) => Array.isArray(list)))
      return new BackupReader(bytes, header);
    throw new BackupFileError('is damaged: its header cannot be read');
  }

  /**
   * The rows of the next table of the header. They must be read completely.
   * @param advance receives the numbers of rows that were read
   * @throws BackupFileError
   */
  async *rows(
    { name, rows }: BackupTable,
    advance: (rows: number) => void = () => undefined,
  ): AsyncGenerator<Buffer> {
    let read = 0;
    for (;;) {
      const content = await readFrame(this.bytes);
      if (content.length === 0) break;
      const count = countRows(content);
      read += count;
      yield content;
      advance(count);
    }
    if (read !== rows) {
      throw new BackupFileError(`is damaged: it holds ${read} of ${rows} rows of ${name}`);
    }
  }

  /** @throws BackupFileError if the file does not end here */
  async end(): Promise<void> {
    const last = await readFrame(this.bytes);
    const others = await this.bytes.takeUpTo(1);
    if (last.equals(END) && others.length === 0) return;
    throw new BackupFileError('is damaged: it does not end where its rows end');
  }

  /** Reads and checks the rest of the file. @throws BackupFileError */
  async verify(): Promise<void> {
    for (const table of this.header.tables) {
      const rows = this.rows(table);
      while (!(await rows.next()).done);
    }
    await this.end();
  }
}

async function readFrame(bytes: ByteReader): Promise<Buffer> {
  const prefix = await bytes.take(PREFIX_BYTES);
  const length = prefix.readUInt32BE(0);
  const content = length <= MAX_FRAME_BYTES ? await bytes.take(length) : Buffer.alloc(0);
  if (content.length === length && crc32(content) === prefix.readUInt32BE(4)) return content;
  throw new BackupFileError('is damaged: a checksum does not match');
}

/** Reads a given number of decompressed bytes at a time. */
class ByteReader {
  private rest: Buffer = Buffer.alloc(0);

  constructor(private readonly chunks: AsyncGenerator<Buffer, void>) {}

  async take(count: number): Promise<Buffer> {
    const bytes = await this.takeUpTo(count);
    if (bytes.length < count) throw new BackupFileError(CUT_OFF);
    return bytes;
  }

  /** Reads fewer bytes only at the end. */
  async takeUpTo(count: number): Promise<Buffer> {
    const parts = [this.rest];
    let length = this.rest.length;
    while (length < count) {
      const { value: chunk } = await this.chunks.next();
      if (!chunk) break;
      parts.push(chunk);
      length += chunk.length;
    }
    const all = parts.length === 1 ? this.rest : Buffer.concat(parts);
    this.rest = all.subarray(count);
    return all.subarray(0, count);
  }
}

/** @throws BackupFileError */
async function* decompress(source: Readable): AsyncGenerator<Buffer, void> {
  let firstByte: number | undefined;
  async function* inspect(chunks: AsyncIterable<Buffer>) {
    for await (const chunk of chunks) {
      firstByte ??= chunk[0];
      yield chunk;
    }
  }
  try {
    // An error of the source destroys the decompressed stream, whose reader reports it.
    yield* pipeline(source, inspect, createGunzip(), () => undefined) as AsyncIterable<Buffer>;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'Z_BUF_ERROR') throw new BackupFileError(CUT_OFF);
    if (message === 'incorrect header check') {
      // Bytes after a compressed file are read as another compressed file.
      throw new BackupFileError(firstByte === GZIP ? TRAILING_BYTES : NO_BACKUP);
    }
    if (code === 'Z_DATA_ERROR') throw new BackupFileError(`is damaged: ${message}`);
    throw error;
  }
}
