/** What spreadsheets take for the beginning of a formula, also behind quotes. */
const FORMULA = /^['"]*[=+\-@\t\r\n＝＋－＠]/;

/** Makes a spreadsheet show a cell as text. `unescapeFormula` restores it. */
export function escapeFormula(text: string): string {
  return FORMULA.test(text) ? `'${text}` : text;
}

export function unescapeFormula(text: string): string {
  return text.startsWith("'") && FORMULA.test(text.slice(1)) ? text.slice(1) : text;
}

/** Writes a row of CSV (RFC 4180). */
export function csvRow(cells: readonly string[]): string {
  return `${cells.map(quoted).join(',')}\r\n`;
}

function quoted(cell: string): string {
  return /[",;\t\r\n|]|^\s|\s$/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell;
}
