import { Readable } from 'node:stream';

/** Which cells of CSV get a leading quote. */
export type Escape = 'formulas' | 'none';

/** What spreadsheets take for the beginning of a formula, also behind quotes. */
const FORMULA = /^['"]*[=+\-@\t\r\n＝＋－＠]/;

/** Makes a spreadsheet show a cell as text. `unescapeFormula` restores it. */
function escapeFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

export function unescapeFormula(text: string): string {
  return text.startsWith("'") && FORMULA.test(text.slice(1)) ? text.slice(1) : text;
}

/** Writes a row of CSV (RFC 4180). */
export function csvRow(cells: readonly string[], escape: Escape = 'none'): string {
  const escaped = escape === 'formulas' ? cells.map(escapeFormula) : cells;
  return `${escaped.map(quoted).join(',')}\r\n`;
}

function quoted(cell: string): string {
  return /[",;\t\r\n|]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}

/**
 * Writes the lines of a file in pages.
 * @returns after the first page was read, so that its error is a response of its own
 * @throws any error of the first page
 */
export async function linesOfPages<T>(
  head: string,
  pages: AsyncGenerator<readonly T[], void>,
  lineOf: (item: T) => string,
): Promise<Readable> {
  const first = await pages.next();
  const texts = async function* () {
    try {
      if (head !== '') yield head;
      for (let page = first; !page.done; page = await pages.next()) {
        yield page.value.map(lineOf).join('');
      }
    } finally {
      await pages.return();
    }
  };
  return Readable.from(texts());
}
