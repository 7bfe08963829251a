import { pipeline, Readable } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { validationError } from '../../../platform/errors/api-error.js';
import { type ParsedJson, parseJsonText } from '../../../platform/fields/input/strict-json.js';

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

const LINE_BREAKS = /\r\n|[\r\n]/g;

/** The delimiter that the first line has most often outside of quotes. */
export function delimiterOf(start: string): DelimiterName {
  const [line = ''] = start.replaceAll(/"[^"]*("|$)/g, '').split(/[\r\n]/, 1);
  const counts = Object.entries(DELIMITERS).map(([name, character]) => {
    return { name: name as DelimiterName, count: line.split(character).length };
  });
  return counts.reduce((most, one) => (one.count > most.count ? one : most)).name;
}

/**
 * Reads CSV. Lines without any value are no records.
 * @param bytes UTF-8 from a place on
 * @throws ApiError `validation_error` that names the line of a quote that is wrong, or of a record that is too long
 */
export async function* csvRecords(
  bytes: Bytes,
  delimiter: DelimiterName,
  start: Place = START,
): AsyncGenerator<FileRecord> {
  const parser = parse({
    delimiter: DELIMITERS[delimiter],
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    record_delimiter: ['\r\n', '\n', '\r'],
    max_record_size: MAX_RECORD_BYTES,
  });
  // The parser emits the errors of the source.
  pipeline(Readable.from(bytes), parser, () => undefined);
  // What the parser has counted too many: it begins with line 1, and counts CR and LF in a cell as two lines. For `"x\r\ny"`
  // in lines 5 and 6, it has counted 7.
  let surplus = 1 - start.line;
  try {
    for await (const parsed of parser) {
      const { record, info } = parsed as {
        record: string[];
        info: { lines: number; bytes: number };
      };
      const breaks = record.flatMap((cell) => cell.match(LINE_BREAKS) ?? []);
      surplus += breaks.filter(({ length }) => length === 2).length;
      const last = info.lines - surplus;
      // Counted before, because a blank cell can have line breaks.
      if (record.every((cell) => cell.trim() === '')) continue;
      const next = { offset: start.offset + info.bytes, line: last + 1 };
      yield { line: last - breaks.length, next, cells: record };
    }
  } catch (error) {
    throw error instanceof CsvError ? invalidCsv(error, Number(error.lines) - surplus) : error;
  }
}

/**
 * Reads NDJSON: an object in each line. Empty lines are no records.
 * @throws ApiError `validation_error` that names the line that is no object or too long
 */
export async function* ndjsonRecords(
  bytes: Bytes,
  start: Place = START,
): AsyncGenerator<FileRecord> {
  let place = start;
  for await (const line of linesOf(bytes)) {
    const length = line.at(-1) === LINE_FEED ? line.length - 1 : line.length;
    if (length > MAX_RECORD_BYTES) throw invalidLine(place.line, 'is too long');
    const next = { offset: place.offset + line.length, line: place.line + 1 };
    const text = line.toString().trim();
    if (text !== '')
      yield { line: place.line, next, cells: text, json: objectOf(text, place.line) };
    place = next;
  }
}

/** Lines with the character that ends them. The last one is the beginning of a line that is too long, if there is one. */
async function* linesOf(bytes: Bytes): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of bytes) {
    let all: Buffer = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    for (let end = all.indexOf(LINE_FEED); end >= 0; end = all.indexOf(LINE_FEED)) {
      yield all.subarray(0, end + 1);
      all = all.subarray(end + 1);
    }
    rest = all;
    if (rest.length > MAX_RECORD_BYTES) break;
  }
  if (rest.length > 0) yield rest;
}

function objectOf(text: string, line: number): JsonObject {
  const parsed = text.startsWith('{') ? parseJsonText(text) : undefined;
  if (!parsed) throw invalidLine(line, 'is not a JSON object');
  // The cast holds, because JSON that begins with a brace is an object.
  return parsed as JsonObject;
}

const CSV_PROBLEMS: Readonly<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: 'is the last one, and a quote is not closed',
  CSV_MAX_RECORD_SIZE: 'is too long, or a quote before it is not closed',
};

function invalidCsv({ code }: CsvError, line: number): Error {
  return invalidLine(
    line,
    CSV_PROBLEMS[code] ?? 'has a quote that neither begins nor ends a cell; double it',
  );
}

function invalidLine(line: number, problem: string): Error {
  return validationError([{ field: 'body', message: `is not valid: line ${line} ${problem}` }]);
}
