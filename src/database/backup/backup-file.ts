import { pipeline, type Readable } from 'node:stream';
import { crc32, createGunzip } from 'node:zlib';

/**
 * The format, compressed by gzip: this line, then frames. A frame is its length and the CRC-32 of
 * its content, four bytes each, and its content. The first frame is the header, as JSON. The rows
 * of each table of the header follow in the text format of COPY, ended by an empty frame; then `END`.
 */
const MAGIC = Buffer.from('latitude backup 1\n');
const END = Buffer.from('end of backup');
const PREFIX_BYTES = 8;
const LONGEST_FRAME = 2 ** 28;
const NEW_LINE = 0x0a;

const NO_BACKUP = 'is no backup that this version of Latitude can read';

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
  /** The version of Latitude that wrote the file. */
  readonly latitude: string;
  readonly created_at: string;
  /** The names of the migrations that the database had seen, in their order. */
  readonly migrations: readonly string[];
  readonly tables: readonly BackupTable[];
  readonly sequences: readonly BackupSequence[];
}

/** A file that is no backup, or not all of one. */
export class BackupFileError extends Error {}

/** The file before compression. */
export async function* encodeBackup(
  header: BackupHeader,
  rowsOf: (table: BackupTable) => AsyncIterable<Buffer>,
): AsyncGenerator<Buffer> {
  yield MAGIC;
  yield* frame(Buffer.from(JSON.stringify(header)));
  for (const table of header.tables) {
    for await (const chunk of rowsOf(table)) yield* frame(chunk);
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

/** The number of rows in a part of COPY's text format, which escapes line feeds within a row. */
export function countRows(chunk: Buffer): number {
  let rows = 0;
  for (let at = chunk.indexOf(NEW_LINE); at >= 0; at = chunk.indexOf(NEW_LINE, at + 1)) rows++;
  return rows;
}

/** Reads a backup from its beginning to its end, and hands out only what its checksums prove. */
export class BackupReader {
  private constructor(
    private readonly bytes: ByteReader,
    readonly header: BackupHeader,
  ) {}

  /** @throws BackupFileError */
  static async open(source: Readable): Promise<BackupReader> {
    const bytes = new ByteReader(source);
    const magic = await bytes.take(MAGIC.length);
    if (!magic.equals(MAGIC)) throw new BackupFileError(NO_BACKUP);
    const header = JSON.parse((await readFrame(bytes)).toString()) as BackupHeader;
    return new BackupReader(bytes, header);
  }

  /**
   * The rows of the next table of the header; they have to be read to their end.
   * @throws BackupFileError
   */
  async *rows({ name, rows }: BackupTable): AsyncGenerator<Buffer> {
    let read = 0;
    for (;;) {
      const content = await readFrame(this.bytes);
      if (content.length === 0) break;
      read += countRows(content);
      yield content;
    }
    if (read !== rows) {
      throw new BackupFileError(`is damaged: it holds ${read} of ${rows} rows of ${name}`);
    }
  }

  /** @throws BackupFileError where something else than the end of the file follows */
  async end(): Promise<void> {
    const isEnd = (await readFrame(this.bytes)).equals(END) && (await this.bytes.isAtEnd());
    if (!isEnd) throw new BackupFileError('is damaged: it does not end where its rows end');
  }

  /** Reads all that is left. @throws BackupFileError */
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
  const content = length <= LONGEST_FRAME ? await bytes.take(length) : Buffer.alloc(0);
  if (content.length === length && crc32(content) === prefix.readUInt32BE(4)) return content;
  throw new BackupFileError('is damaged: a checksum does not match');
}

/** The unpacked bytes of a stream, as many at a time as are asked for. */
class ByteReader {
  private readonly chunks: AsyncIterator<Buffer>;
  private rest: Buffer = Buffer.alloc(0);

  constructor(source: Readable) {
    // An error of the source destroys the stream behind it, where it is read.
    const unpacked = pipeline(source, createGunzip(), () => undefined);
    this.chunks = (unpacked as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  }

  async take(count: number): Promise<Buffer> {
    const parts = [this.rest];
    let length = this.rest.length;
    while (length < count) {
      const chunk = await this.next();
      if (!chunk) throw new BackupFileError('is cut off');
      parts.push(chunk);
      length += chunk.length;
    }
    const all = parts.length === 1 ? this.rest : Buffer.concat(parts);
    this.rest = all.subarray(count);
    return all.subarray(0, count);
  }

  async isAtEnd(): Promise<boolean> {
    return this.rest.length === 0 && !(await this.next());
  }

  private async next(): Promise<Buffer | undefined> {
    try {
      const next = await this.chunks.next();
      return next.done === true ? undefined : next.value;
    } catch (error) {
      throw toBackupFileError(error as NodeJS.ErrnoException);
    }
  }
}

function toBackupFileError(error: NodeJS.ErrnoException): Error {
  if (error.code === 'Z_BUF_ERROR') return new BackupFileError('is cut off');
  if (error.message === 'incorrect header check') return new BackupFileError(NO_BACKUP);
  if (error.code === 'Z_DATA_ERROR') return new BackupFileError(`is damaged: ${error.message}`);
  return error;
}
