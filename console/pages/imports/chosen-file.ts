import { type CsvTable, parseCsv } from './csv.js';

/** A file that a person has chosen. */
export interface ChosenFile {
  readonly name: string;
  /** What is sent: UTF-8. */
  readonly content: Blob;
  /** Its header and first rows. */
  readonly table: CsvTable;
}

/** The service takes no larger file. */
export const MAX_BYTES = 50 * 1_024 * 1_024;

const SHOWN_ROWS = 5;

/** Reads a CSV file in UTF-8, UTF-16 or Windows-1252. */
export async function readChosenFile(file: File): Promise<ChosenFile> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  const encoding = encodingOf(bytes);
  const text = new TextDecoder(encoding).decode(bytes);
  const content = encoding === 'utf-8' ? file : new Blob([text]);
  return { name: file.name, content, table: parseCsv(text, SHOWN_ROWS) };
}

function encodingOf(bytes: Uint8Array): string {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return 'utf-8';
  } catch {
    return 'windows-1252';
  }
}
