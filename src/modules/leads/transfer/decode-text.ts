import { TextDecoder } from 'node:util';
import { validationError } from '../../../platform/errors/api-error.js';
import { lineBreaksIn } from './csv-record.js';
import { ENCODINGS, type TextEncoding, type TextShape } from './text-shape.js';

/**
 * The encoding of a file.
 * @param named by the parameter of the request
 * @param charset of the content type, by one of its names
 * @throws ApiError `validation_error` for a charset that is not supported
 */
export function encodingOf(named: TextEncoding | undefined, charset?: string): TextEncoding {
  if (named !== undefined) return named;
  // The Encoding Standard takes ASCII for Windows-1252.
  if (charset === undefined || /^(us-)?ascii$/i.test(charset)) return 'utf-8';
  const label = labelOf(charset)?.replace(/^utf-16le$/, 'utf-16');
  const encoding = ENCODINGS.find((each) => each === label);
  if (encoding !== undefined) return encoding;
  const message = `has a charset that is not supported; it must be one of ${ENCODINGS.join(', ')}`;
  throw validationError([{ field: 'Content-Type', message }]);
}

function labelOf(charset: string): string | undefined {
  try {
    return new TextDecoder(charset).encoding;
  } catch {
    return undefined;
  }
}

/** The labels of decoders, each with an encoding of Node that has as many bytes. */
const SIZES = {
  'utf-8': 'utf8',
  'utf-16le': 'utf16le',
  'utf-16be': 'utf16le',
  'windows-1252': 'latin1',
} as const;

type Label = keyof typeof SIZES;

/** The byte order marks of UTF-16. */
const MARKS: ReadonlyMap<number, Label> = new Map([
  [0xfeff, 'utf-16be'],
  [0xfffe, 'utf-16le'],
]);

/** Bytes of the longest byte order mark, that of UTF-8. */
const LONGEST_MARK = 3;

const UTF8_MARK = Buffer.from('\ufeff');

/** The byte order mark of UTF-8, decoded as Windows-1252. */
const MARK_IN_WINDOWS_1252 = 'ï»¿';

/** What other files than texts begin with, in hexadecimal, and what to do with them. */
const OTHER_FILES: ReadonlyMap<string, string> = new Map([
  ...['504b0304', '504b0506', '504b0708'].map((beginning): [string, string] => [
    beginning,
    'is a zip file, such as a workbook of a spreadsheet (.xlsx, .ods); save it as CSV and send that',
  ]),
  ['d0cf11e0', 'is a workbook of Excel (.xls); save it as CSV and send that'],
  ['1f8b08', 'is compressed (.gz); decompress it and send that'],
]);

/** @throws ApiError `validation_error` that says what kind of file it is */
function assertText(start: Buffer): void {
  const beginning = start.toString('hex', 0, 4);
  for (const [bytes, message] of OTHER_FILES) {
    if (beginning.startsWith(bytes)) throw validationError([{ field: 'body', message }]);
  }
}

/** Finds UTF-8 that is sent as Windows-1252, in which nearly every byte is valid. */
class Utf8Check {
  private readonly decoder = new TextDecoder('utf-8', { fatal: true });
  private isUtf8 = true;

  /** @throws ApiError `validation_error` if all bytes so far are UTF-8, and not only ASCII */
  add(chunk: Buffer): void {
    if (!this.isUtf8) return;
    try {
      if (!/[^\0-\x7f]/.test(this.decoder.decode(chunk, { stream: true }))) return;
    } catch {
      this.isUtf8 = false;
      return;
    }
    const message = 'is in UTF-8, not in windows-1252; leave out encoding and charset';
    throw validationError([{ field: 'body', message }]);
  }
}

/**
 * Converts a file to UTF-8 without a byte order mark. A byte order mark of UTF-16 decides; without one, `utf-16` is
 * little-endian.
 * @param report receives the encoding that the file has
 * @throws ApiError `validation_error` that names the first line that is not in the encoding, or another kind of file
 */
export async function* decodeText(
  source: AsyncIterable<Buffer>,
  encoding: TextEncoding,
  report: (shape: TextShape) => void = () => undefined,
): AsyncGenerator<Buffer> {
  let label: Label = encoding === 'utf-16' ? 'utf-16le' : encoding;
  let rest: Buffer = Buffer.alloc(0);
  let isStart = true;
  let line = 1;
  const utf8 = new Utf8Check();
  for await (const chunk of source) {
    rest = Buffer.concat([rest, chunk]);
    if (rest.length < LONGEST_MARK) continue;
    if (isStart) {
      assertText(rest);
      const ofMark = MARKS.get(rest.readUInt16BE(0));
      label = ofMark ?? label;
      const isMarked = ofMark !== undefined || (label === 'utf-8' && rest.indexOf(UTF8_MARK) === 0);
      report({ encoding: ofMark ? 'utf-16' : encoding, hasMark: isMarked });
    }
    if (label === 'windows-1252') utf8.add(isStart ? rest : chunk);
    const text = decode(rest, label, line, false).replace(/\r$/, '');
    // What is not in the text stays: the beginning of a character, and a CR that LF may follow.
    rest = rest.subarray(Buffer.byteLength(text, SIZES[label]));
    const mark = label === 'windows-1252' ? MARK_IN_WINDOWS_1252 : '\ufeff';
    const decoded = Buffer.from(isStart && text.startsWith(mark) ? text.slice(mark.length) : text);
    line += lineBreaksIn(decoded);
    yield decoded;
    isStart &&= text === '';
  }
  if (rest.length > 0) yield Buffer.from(decode(rest, label, line, true));
}

/**
 * Decodes bytes. A character at their end that is not complete is left out, or invalid if they are the last ones.
 * @param line that of the first byte
 */
function decode(bytes: Buffer, label: Label, line: number, isLast: boolean): string {
  const text = tryDecode(bytes, label, !isLast);
  if (text !== undefined) return text;
  // Beginnings are valid up to a length.
  let length = 0;
  for (let step = bytes.length; step > 0; step = step === 1 ? 0 : Math.ceil(step / 2)) {
    const longer = length + step;
    if (longer < bytes.length && tryDecode(bytes.subarray(0, longer), label, true) !== undefined) {
      length = longer;
    }
  }
  const valid = tryDecode(bytes.subarray(0, length), label, true) ?? '';
  const message = `has bytes in line ${line + lineBreaksIn(Buffer.from(valid))} that are not in its encoding; set encoding, such as windows-1252`;
  throw validationError([{ field: 'body', message }]);
}

/** @returns undefined for bytes that are not in the encoding */
function tryDecode(bytes: Buffer, label: Label, stream: boolean): string | undefined {
  try {
    return new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes, { stream });
  } catch {
    return undefined;
  }
}
