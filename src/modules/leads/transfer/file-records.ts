import { type ParsedJson, parseJsonText } from '../../../platform/fields/input/strict-json.js';
import { giveWay } from '../../../platform/give-way.js';
import { readCsvRecord } from './csv-record.js';
import { invalidLine } from './invalid-line.js';

/** A place in a file at which a record begins. */
export interface Place {
  /** Offset in bytes. */
  readonly offset: number;
  /** Number of the line, from 1. */
  readonly line: number;
}

export const START: Place = { offset: 0, line: 1 };

/** A record of a file. */
export interface FileRecord {
  /** The line in which it begins. */
  readonly line: number;
  /** Where the next one begins. */
  readonly next: Place;
  /** The cells of CSV in the order of the columns, or the text of a line of NDJSON. */
  readonly cells: readonly string[] | string;
  /** What the line of NDJSON holds, and what a request with it would be refused for. */
  readonly json?: JsonObject;
}

/** An object of NDJSON. It is undefined if it is nested too deep. */
export interface JsonObject extends ParsedJson {
  readonly value?: Readonly<Record<string, unknown>>;
}

type Bytes = AsyncIterable<Buffer>;

export const DELIMITERS = { comma: ',', semicolon: ';', tab: '\t', pipe: '|' } as const;
export type DelimiterName = keyof typeof DELIMITERS;

const MAX_RECORD_BYTES = 1_048_576;

const LINE_FEED = 10;

/** What the delimiter is detected from. A header is shorter. */
const DETECTED_LENGTH = 65_536;

/** A first line that tells spreadsheets the delimiter, such as `sep=;`. */
const DECLARATION = /^"?sep=([^\r\n])"?(?:[\r\n]|$)/i;

/**
 * @returns the delimiter that the first line declares; undefined if it is no declaration
 * @throws ApiError `validation_error` for a delimiter that is unknown
 */
export function declaredDelimiterOf(start: string): DelimiterName | undefined {
  const [, declared] = DECLARATION.exec(start) ?? [];
  if (declared === undefined) return undefined;
  const names = Object.keys(DELIMITERS) as DelimiterName[];
  const name = names.find((each) => DELIMITERS[each] === declared);
  if (!name) throw invalidLine(1, `declares a delimiter that is none of ${names.join(', ')}`);
  return name;
}

/** The delimiter that the first line has most often outside of quotes. */
export function delimiterOf(start: string): DelimiterName {
  const [line = ''] = start
    .slice(0, DETECTED_LENGTH)
    .replaceAll(/"[^"]*("|$)/g, '')
    .split(/[\r\n]/, 1);
  const counts = Object.entries(DELIMITERS).map(([name, character]) => {
    return { name: name as DelimiterName, count: line.split(character).length };
  });
  return counts.reduce((most, one) => (one.count > most.count ? one : most)).name;
}

/**
 * Reads CSV. Lines without any value are no records, but have the limits of one.
 * @param bytes UTF-8 from a place on
 * @throws ApiError `validation_error` that names the line of a quote that is wrong, or of a record that is too long
 */
export function csvRecords(
  bytes: Bytes,
  delimiter: DelimiterName,
  start: Place = START,
): AsyncGenerator<FileRecord> {
  const code = DELIMITERS[delimiter].charCodeAt(0);
  return recordsOf(bytes, start, (all, at, { offset, line }, isEnd) => {
    const record = readCsvRecord(all, at, line, code, isEnd);
    if ((record?.end ?? all.length) - at > MAX_RECORD_BYTES) {
      throw invalidLine(line, 'is too long, or has a quote that is not closed');
    }
    if (!record) return undefined;
    const { cells, end, nextLine } = record;
    const isEmpty = cells.every((cell) => cell.trim() === '');
    const next = { offset: offset + end - at, line: nextLine };
    return isEmpty ? { next } : { line, next, cells };
  });
}

/**
 * Reads NDJSON: an object in each line. Empty lines are no records.
 * @throws ApiError `validation_error` that names the line that is no object or too long
 */
export function ndjsonRecords(bytes: Bytes, start: Place = START): AsyncGenerator<FileRecord> {
  return recordsOf(bytes, start, (all, at, { offset, line }, isEnd) => {
    const found = all.indexOf(LINE_FEED, at);
    const end = found < 0 ? all.length : found;
    if (end - at > MAX_RECORD_BYTES) throw invalidLine(line, 'is too long');
    if (found < 0 && !(isEnd && end > at)) return undefined;
    const next = { offset: offset + end - at + (found < 0 ? 0 : 1), line: line + 1 };
    const text = all.toString('utf8', at, end).trim();
    return text === '' ? { next } : { line, next, cells: text, json: objectOf(text, line) };
  });
}

/** What a record is, or what follows lines without a value. */
type Found = FileRecord | Pick<FileRecord, 'next'>;

/**
 * Reads the record that begins at an offset of the bytes and at a place of the file.
 * @returns undefined if the record is not complete, or if there is none
 */
type ReadRecord = (bytes: Buffer, at: number, place: Place, isEnd: boolean) => Found | undefined;

async function* recordsOf(
  source: Bytes,
  start: Place,
  read: ReadRecord,
): AsyncGenerator<FileRecord> {
  let place = start;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of withEnd(source)) {
    const isEnd = chunk === undefined;
    const bytes = isEnd ? rest : Buffer.concat([rest, chunk]);
    let at = 0;
    for (let found = read(bytes, at, place, isEnd); found; found = read(bytes, at, place, isEnd)) {
      at += found.next.offset - place.offset;
      place = found.next;
      if ('cells' in found) yield found;
      const turn = giveWay();
      if (turn) await turn;
    }
    rest = bytes.subarray(at);
  }
}

/** The chunks, and undefined after the last one. */
async function* withEnd(source: Bytes): AsyncGenerator<Buffer | undefined> {
  yield* source;
  yield undefined;
}

function objectOf(text: string, line: number): JsonObject {
  const parsed = text.startsWith('{') ? parseJsonText(text) : undefined;
  if (!parsed) throw invalidLine(line, 'is not a JSON object');
  // The cast holds, because JSON that begins with a brace is an object.
  return parsed as JsonObject;
}
