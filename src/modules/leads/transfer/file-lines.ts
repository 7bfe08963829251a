import { Readable } from 'node:stream';
import { validationError } from '../../../platform/errors/api-error.js';
import { giveWay } from '../../../platform/give-way.js';
import { encoderOf, type TextShape, UTF8 } from './text-shape.js';
import { type DelimiterName, DELIMITERS } from './file-records.js';

/**
 * Refuses options of CSV for a file of another format.
 * @param options those that are given
 * @throws ApiError `validation_error`
 */
export function assertForCsv(options: Readonly<Record<string, unknown>>): void {
  const given = Object.keys(options).filter((name) => options[name] !== undefined);
  if (given.length === 0) return;
  throw validationError(given.map((field) => ({ field, message: 'is for CSV only' })));
}

/** Lines are sent together up to this length. */
const PART_LENGTH = 65_536;

/** Which cells of CSV get a leading quote. */
export type Escape = 'formulas' | 'none';

/**
 * What spreadsheets take for the beginning of a formula. Quotes before it are part of the form, so that `unescapeFormula`
 * restores text that already begins with a quote.
 */
const FORMULA = /^['"]*[=+\-@\t\r\n＝＋－＠]/;

/** Makes a spreadsheet show a cell as text. `unescapeFormula` restores it. */
export function escapeFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

/** @returns the text from which the export has made a cell */
function unescapeFormula(text: string): string {
  return text.startsWith("'") && FORMULA.test(text.slice(1)) ? text.slice(1) : text;
}

/** A formula whose value is a text: `="01067"`. */
const TEXT_FORMULA = /^="([^"]*(?:""[^"]*)*)"$/;

/** Whether a cell is a formula that is only a text, so that it is safe as it is. */
export function isTextFormula(cell: string): boolean {
  return TEXT_FORMULA.test(cell.trim());
}

/**
 * The text that a cell means.
 * @param isEscaped whether the file has the quotes of an export
 */
export function textOfCell(cell: string, isEscaped: boolean): string {
  const unescaped = isEscaped ? unescapeFormula(cell) : cell;
  // Behind the quote of an export, it is no formula.
  if (unescaped !== cell) return unescaped;
  const [, text] = TEXT_FORMULA.exec(cell.trim()) ?? [];
  return text?.replaceAll('""', '"') ?? cell;
}

/**
 * Writes a row of CSV (RFC 4180). It also quotes other delimiters and outer spaces, for readers that guess the delimiter or
 * trim cells.
 */
export function csvRow(
  cells: readonly string[],
  escape: Escape = 'none',
  delimiter: DelimiterName = 'comma',
): string {
  const escaped = escape === 'formulas' ? cells.map(escapeFormula) : cells;
  return `${escaped.map(quoted).join(DELIMITERS[delimiter])}\r\n`;
}

function quoted(cell: string): string {
  return /[",;\t\r\n|]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/**
 * Writes the lines of a file in pages. It resolves after the first page was read: an error until then can be answered with
 * a status, and a later one only ends the file.
 * @param pages is ended with the stream, also if nothing has been read from it
 * @param text how the file is encoded
 * @throws any error of the first page
 */
export async function linesOfPages<T>(
  head: string,
  pages: AsyncGenerator<readonly T[], void>,
  lineOf: (item: T) => string,
  text: TextShape = UTF8,
): Promise<Readable> {
  const first = await pages.next();
  const encode = encoderOf(text);
  const texts = async function* () {
    if (head !== '' || text.hasMark) yield encode(head);
    for (let page = first; !page.done; page = await pages.next()) {
      let part = '';
      for (const item of page.value) {
        await giveWay();
        part += lineOf(item);
        if (part.length < PART_LENGTH) continue;
        yield encode(part);
        part = '';
      }
      if (part !== '') yield encode(part);
    }
  };
  // A stream that ends before its first read does not start the generator, so that a `finally` in it would not run.
  return Readable.from(texts()).once('close', () => void pages.return().catch(() => undefined));
}
