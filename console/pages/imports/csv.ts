/** Rows of a CSV file, and how they are separated. */
export interface CsvTable {
  readonly delimiter: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const DELIMITERS = [',', ';', '\t', '|'];

/**
 * Reads CSV as the service does: with quotes, and with the delimiter that the header has most often.
 * @param maxRows without the header
 */
export function parseCsv(source: string, maxRows = Infinity): CsvTable {
  const text = source.replace(/^\uFEFF/, '');
  const [declared, separator] = /^sep=(.)\r?\n/.exec(text) ?? [];
  const delimiter = separator ?? delimiterOf(text);
  const rows: string[][] = [];
  for (const row of rowsOf(text.slice(declared?.length ?? 0), delimiter)) {
    if (row.some((cell) => cell !== '')) rows.push(row);
    if (rows.length > maxRows) break;
  }
  const [header = [], ...others] = rows;
  return { delimiter, header, rows: others };
}

function delimiterOf(text: string): string {
  const counts = DELIMITERS.map((delimiter) => {
    const [header = []] = rowsOf(text, delimiter);
    return [header.length, delimiter] as const;
  });
  const most = Math.max(...counts.map(([count]) => count));
  return counts.find(([count]) => count === most)?.[1] ?? ',';
}

function* rowsOf(text: string, delimiter: string): Generator<string[], void> {
  let row: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (let index = 0; index < text.length; index++) {
    const character = text[index] ?? '';
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (text[index + 1] === '"') cell += text[++index] ?? '';
      else isQuoted = false;
    } else if (character === '"' && cell === '') isQuoted = true;
    else if (character === delimiter || character === '\n' || character === '\r') {
      row.push(cell);
      cell = '';
      if (character === delimiter) continue;
      if (character === '\r' && text[index + 1] === '\n') index++;
      yield row;
      row = [];
    } else cell += character;
  }
  row.push(cell);
  yield row;
}

/** Writes rows as CSV. */
export function toCsv(rows: readonly (readonly string[])[], delimiter: string): string {
  const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;
  return rows.map((row) => `${row.map(quoted).join(delimiter)}\r\n`).join('');
}
