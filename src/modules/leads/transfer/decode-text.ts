import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';
import { validationError } from '../../../platform/errors/api-error.js';

export const ENCODINGS = ['utf-8', 'utf-16', 'windows-1252'] as const;
export type TextEncoding = (typeof ENCODINGS)[number];

type Bytes = AsyncIterable<Buffer>;

const LF = 0x0a;
const CR = 0x0d;

/**
 * Converts a file to UTF-8 without a byte order mark. A byte order mark of UTF-16 decides; without one, `utf-16` is
 * little-endian.
 * @throws ApiError `validation_error` that names the first line that is not in the encoding
 */
export async function* decodeText(source: Bytes, encoding: TextEncoding): AsyncGenerator<Buffer> {
  const [mark, bytes] = await withMark(source);
  const isUtf16 = mark === 0xfeff || mark === 0xfffe;
  if (encoding === 'windows-1252' && !isUtf16) yield* decodeWindows1252(bytes);
  else if (encoding === 'utf-16' || isUtf16) yield* checked(utf16To8(bytes, mark === 0xfeff));
  else yield* checked(withoutMark(bytes));
}

/** @returns the first two bytes as a number, and all bytes, of which the first three come together */
async function withMark(source: Bytes): Promise<[mark: number, bytes: Bytes]> {
  const iterator = source[Symbol.asyncIterator]();
  let start: Buffer = Buffer.alloc(0);
  while (start.length < 3) {
    const next = await iterator.next();
    if (next.done) break;
    start = Buffer.concat([start, next.value]);
  }
  const bytes = async function* () {
    try {
      if (start.length > 0) yield start;
      for (let next = await iterator.next(); !next.done; next = await iterator.next()) {
        yield next.value;
      }
    } finally {
      await iterator.return?.();
    }
  };
  return [start.length < 2 ? 0 : start.readUInt16BE(0), bytes()];
}

async function* withoutMark(bytes: Bytes): AsyncGenerator<Buffer> {
  let isFirst = true;
  for await (const chunk of bytes) {
    const hasMark = isFirst && chunk[0] === 0xef && chunk[1] === 0xbb && chunk[2] === 0xbf;
    isFirst = false;
    yield hasMark ? chunk.subarray(3) : chunk;
  }
}

async function* decodeWindows1252(bytes: Bytes): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder('windows-1252');
  for await (const chunk of bytes) yield Buffer.from(decoder.decode(chunk, { stream: true }));
}

/** Surrogates without a partner become bytes that are not UTF-8. */
async function* utf16To8(bytes: Bytes, isBigEndian: boolean): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = true;
  for await (const chunk of bytes) {
    const all = Buffer.concat([rest, chunk]);
    let end = all.length - (all.length % 2);
    const high = end === 0 ? 0 : all[isBigEndian ? end - 2 : end - 1];
    if (((high ?? 0) & 0xfc) === 0xd8) end -= 2;
    rest = all.subarray(end);
    const text = textOfUtf16(all.subarray(0, end), isBigEndian);
    yield toBytes(isFirst ? text.replace(/^\ufeff/, '') : text);
    if (end > 0) isFirst = false;
  }
  if (rest.length > 0) yield Buffer.from([0xff]);
}

function textOfUtf16(bytes: Buffer, isBigEndian: boolean): string {
  return (isBigEndian ? Buffer.from(bytes).swap16() : bytes).toString('utf16le');
}

function toBytes(text: string): Buffer {
  if (text.isWellFormed()) return Buffer.from(text);
  const parts = text.split(/(\p{Surrogate})/u).map((part) => {
    return part.isWellFormed() ? Buffer.from(part) : Buffer.from([0xff]);
  });
  return Buffer.concat(parts);
}

/** Passes UTF-8 on in whole characters. */
async function* checked(bytes: Bytes): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  const lines = new LineCounter();
  for await (const chunk of bytes) {
    const all = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    const end = endOfCharacters(all);
    const whole = all.subarray(0, end);
    if (!isUtf8(whole)) throw notInEncoding(lines.lineOfInvalid(whole));
    lines.count(whole);
    rest = all.subarray(end);
    yield whole;
  }
  if (rest.length > 0) throw notInEncoding(lines.line);
}

/** Where a character begins that continues in the next chunk; otherwise the end. */
function endOfCharacters(bytes: Buffer): number {
  for (let back = 1; back <= Math.min(3, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return length > back ? bytes.length - back : bytes.length;
  }
  return bytes.length;
}

/** Counts the lines of a text, which end in LF, CR or both. */
class LineCounter {
  line = 1;
  private isAfterReturn = false;

  count(bytes: Buffer): void {
    for (const byte of bytes) {
      if (byte === CR || (byte === LF && !this.isAfterReturn)) this.line++;
      this.isAfterReturn = byte === CR;
    }
  }

  lineOfInvalid(bytes: Buffer): number {
    let start = 0;
    while (start < bytes.length) {
      let end = start;
      while (end < bytes.length && bytes[end] !== LF && bytes[end] !== CR) end++;
      end = Math.min(end + 1, bytes.length);
      const part = bytes.subarray(start, end);
      if (!isUtf8(part)) return this.line;
      this.count(part);
      start = end;
    }
    return this.line;
  }
}

function notInEncoding(line: number): Error {
  const message = `has bytes in line ${line} that are not in its encoding; set encoding, such as windows-1252`;
  return validationError([{ field: 'body', message }]);
}
