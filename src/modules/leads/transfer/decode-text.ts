import { TextDecoder } from 'node:util';
import { validationError } from '../../../platform/errors/api-error.js';
import { lineBreaksIn } from './csv-record.js';

export const ENCODINGS = ['utf-8', 'utf-16', 'windows-1252'] as const;
export type TextEncoding = (typeof ENCODINGS)[number];

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

/** The byte order mark of UTF-8, decoded as Windows-1252. */
const MARK_IN_WINDOWS_1252 = 'ï»¿';

/**
 * Converts a file to UTF-8 without a byte order mark. A byte order mark of UTF-16 decides; without one, `utf-16` is
 * little-endian.
 * @throws ApiError `validation_error` that names the first line that is not in the encoding
 */
export async function* decodeText(
  source: AsyncIterable<Buffer>,
  encoding: TextEncoding,
): AsyncGenerator<Buffer> {
  let label: Label = encoding === 'utf-16' ? 'utf-16le' : encoding;
  let rest: Buffer = Buffer.alloc(0);
  let isStart = true;
  let line = 1;
  for await (const chunk of source) {
    rest = Buffer.concat([rest, chunk]);
    if (rest.length < LONGEST_MARK) continue;
    if (isStart) label = MARKS.get(rest.readUInt16BE(0)) ?? label;
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
