import { invalidLine } from './invalid-line.js';

const QUOTE = 34;
const EQUALS = 61;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/** Cells of a line: as many as the columns of a spreadsheet. */
export const MAX_CELLS = 16_384;

/** A record of CSV. */
export interface CsvRecord {
  readonly cells: readonly string[];
  /** Offset after the line break that ends it. */
  readonly end: number;
  /** Number of the line after it. */
  readonly nextLine: number;
}

/**
 * Reads one record of CSV (RFC 4180), in time that its bytes and cells bound.
 * @param bytes UTF-8
 * @param start offset of the record
 * @param line its number
 * @param isEnd whether no bytes follow
 * @returns undefined if the record is not complete, or if there is none
 * @throws ApiError `validation_error` that names the line of a quote that is wrong, or of too many cells
 */
export function readCsvRecord(
  bytes: Buffer,
  start: number,
  line: number,
  delimiter: number,
  isEnd: boolean,
): CsvRecord | undefined {
  if (start === bytes.length) return undefined;
  return new CsvReader(bytes, start, line, delimiter, isEnd).record();
}

class CsvReader {
  constructor(
    private readonly bytes: Buffer,
    private at: number,
    private line: number,
    private readonly delimiter: number,
    private readonly isEnd: boolean,
  ) {}

  record(): CsvRecord | undefined {
    const cells: string[] = [];
    for (; ; this.at++) {
      if (cells.length === MAX_CELLS)
        throw invalidLine(this.line, `has more than ${MAX_CELLS} cells`);
      const cell = this.bytes[this.at] === QUOTE ? this.quotedCell() : this.plainCell();
      if (cell === undefined || this.mayGoOn()) return undefined;
      cells.push(cell);
      if (this.bytes[this.at] !== this.delimiter) break;
    }
    const hasTwo = this.bytes[this.at] === CARRIAGE_RETURN && this.bytes[this.at + 1] === LINE_FEED;
    const end = Math.min(this.at + (hasTwo ? 2 : 1), this.bytes.length);
    return { cells, end, nextLine: this.line + 1 };
  }

  /** Whether bytes that follow can belong to the cell or to the line break after it. */
  private mayGoOn(): boolean {
    if (this.isEnd) return false;
    const left = this.bytes.length - this.at;
    return left === 0 || (left === 1 && this.bytes[this.at] === CARRIAGE_RETURN);
  }

  /** @returns undefined if it begins with a formula whose quote is not closed yet */
  private plainCell(): string | undefined {
    const { bytes, at: start } = this;
    let at = this.afterTextFormula();
    for (; at < bytes.length && !this.isSeparator(bytes[at]); at++) {
      if (bytes[at] === QUOTE) throw this.wrongQuote();
    }
    if (at > bytes.length) return undefined;
    this.at = at;
    return at === start ? '' : bytes.toString('utf8', start, at);
  }

  /**
   * The offset after a formula such as `="01067"`, by which programs keep spreadsheets from taking a text for a number. It
   * is in one line.
   * @returns the offset of the cell if it does not begin with one; one after the bytes if the formula is not complete
   */
  private afterTextFormula(): number {
    const { bytes, at: start, isEnd } = this;
    if (bytes[start] !== EQUALS || bytes[start + 1] !== QUOTE) return start;
    for (let at = start + 2; ; at++) {
      if (at >= bytes.length) return isEnd ? start : bytes.length + 1;
      if (isLineBreak(bytes, at)) return start;
      if (bytes[at] !== QUOTE) continue;
      if (bytes[at + 1] !== QUOTE) return at + 1;
      at++;
    }
  }

  /** @returns undefined if the quote is not closed yet */
  private quotedCell(): string | undefined {
    const { bytes } = this;
    const start = this.at + 1;
    let hasQuotes = false;
    let at = start;
    for (; at < bytes.length; at++) {
      if (bytes[at] === QUOTE) {
        if (bytes[at + 1] !== QUOTE) break;
        hasQuotes = true;
        at++;
      } else if (isLineBreak(bytes, at)) this.line++;
    }
    this.at = at + 1;
    if (at >= bytes.length) {
      if (this.isEnd) throw this.openQuote();
      return undefined;
    }
    if (this.at < bytes.length && !this.isSeparator(bytes[this.at])) throw this.wrongQuote();
    const text = bytes.toString('utf8', start, at);
    return hasQuotes ? text.replaceAll('""', '"') : text;
  }

  private openQuote(): Error {
    const last = isLineBreak(this.bytes, this.bytes.length - 1) ? this.line - 1 : this.line;
    return invalidLine(last, 'is the last one, and a quote is not closed');
  }

  private wrongQuote(): Error {
    return invalidLine(this.line, 'has a quote that neither begins nor ends a cell; double it');
  }

  private isSeparator(byte: number | undefined): boolean {
    return byte === this.delimiter || byte === LINE_FEED || byte === CARRIAGE_RETURN;
  }
}

/** Whether a line break ends with this byte: LF, CR, or both. */
function isLineBreak(bytes: Buffer, at: number): boolean {
  return bytes[at] === LINE_FEED || (bytes[at] === CARRIAGE_RETURN && bytes[at + 1] !== LINE_FEED);
}

/** Counts the line breaks in some bytes. */
export function lineBreaksIn(bytes: Buffer): number {
  let count = 0;
  for (let at = 0; at < bytes.length; at++) if (isLineBreak(bytes, at)) count++;
  return count;
}
