import { isObject } from '../../platform/fields/kinds/json-object.js';

/** A JSON value that a command prints. */
export type Json =
  string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

type Row = Readonly<Record<string, Json>>;

const EMPTY = 'Nothing to list.\n';
const GAP = '  ';

/** The least number of columns for a value, however narrow the terminal is. */
const MIN_VALUE_WIDTH = 20;

/** Characters that take two columns of a terminal, and those that take none. */
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/u;
const WITHOUT_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u;

const ESCAPES: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/**
 * Formats the rows of a list.
 *
 * - For a terminal: as a table if it fits, otherwise each row as lines of a name and a value.
 * - Otherwise: complete, one row a line, with columns separated by tabs, after a line with their names.
 * @param rows JSON values
 * @param terminalWidth number of columns of the terminal; undefined without a terminal
 */
export function formatRows(rows: readonly Json[], terminalWidth?: number): string {
  const records = rows.map(toRow);
  if (terminalWidth === undefined) return formatLines(records);
  if (records.length === 0) return EMPTY;
  const flat = records.map((record) => Object.fromEntries(flatten(record)));
  const table = formatTable(flat);
  const fits = table.every((line) => widthOf(line) <= terminalWidth);
  const lines = fits ? table : flat.flatMap((record) => formatRecord(record, terminalWidth));
  return joinLines(lines);
}

/** Formats a value of a single result, or of a cell, on one line. */
export function formatValue(value: Json): string {
  if (value === null) return '';
  if (typeof value === 'string') return escapeControls(value);
  return isPlainList(value) ? escapeControls(value.join(',')) : JSON.stringify(value);
}

/** Whether a list of texts can be joined by commas. */
function isPlainList(value: Json): value is readonly string[] {
  return (
    Array.isArray(value) && value.every((item) => typeof item === 'string' && !item.includes(','))
  );
}

function toRow(value: Json): Row {
  return isObject(value) ? value : { value };
}

/** Backslashes are escaped as well, so that a reader can restore the values. */
function formatLines(records: readonly Row[]): string {
  const names = namesOf(records);
  const cell = (value: Json = null) =>
    typeof value === 'string' ? formatValue(value.replaceAll('\\', '\\\\')) : formatValue(value);
  const lines = records.map((record) => names.map((name) => cell(record[name])).join('\t'));
  return records.length === 0 ? '' : joinLines([names.join('\t'), ...lines]);
}

function formatTable(records: readonly Row[]): string[] {
  const names = namesOf(records);
  const cells = records.map((record) => names.map((name) => formatValue(record[name] ?? null)));
  const rows = [names, ...cells];
  const widths = names.map((_, n) => Math.max(...rows.map((row) => widthOf(row[n] ?? ''))));
  const line = (row: readonly string[]) =>
    row
      .map((text, n) => pad(text, widths[n] ?? 0))
      .join(GAP)
      .trimEnd();
  return [line(names), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)];
}

/** One line for each name, with the value wrapped, and an empty line at the end. */
function formatRecord(record: Row, terminalWidth: number): string[] {
  const names = Object.keys(record);
  const labelWidth = Math.max(...names.map(widthOf));
  const available = Math.max(MIN_VALUE_WIDTH, terminalWidth - labelWidth - GAP.length);
  const lines = names.flatMap((name) =>
    wrap(formatValue(record[name] ?? null), available).map((text, n) =>
      `${pad(n === 0 ? name : '', labelWidth)}${GAP}${text}`.trimEnd(),
    ),
  );
  return [...lines, ''];
}

/** Gives the fields of nested objects names such as `actor.id`. */
function flatten(record: Row, prefix = ''): [string, Json][] {
  return Object.entries(record).flatMap(([name, value]): [string, Json][] => {
    const isNested = isObject(value) && Object.keys(value).length > 0;
    return isNested ? flatten(value, `${prefix}${name}.`) : [[prefix + name, value]];
  });
}

function namesOf(records: readonly Row[]): string[] {
  return [...new Set(records.flatMap((record) => Object.keys(record)))];
}

/** Breaks a text into lines, after spaces and commas where there are any. */
function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.match(/[^ ,]*[ ,]|[^ ,]+/g) ?? ['']) {
    if (line !== '' && widthOf(line + word.trimEnd()) > width) {
      lines.push(line);
      line = '';
    }
    for (const character of word) {
      if (widthOf(line + character) > width && character !== ' ') {
        lines.push(line);
        line = '';
      }
      line += character;
    }
  }
  return [...lines, line];
}

/** Names and notes of callers must not control the terminal. */
function escapeControls(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, (character) => {
    const code = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
    return ESCAPES[character] ?? `\\u${code}`;
  });
}

function widthOf(text: string): number {
  let width = 0;
  for (const character of text) {
    if (!WITHOUT_WIDTH.test(character)) width += WIDE.test(character) ? 2 : 1;
  }
  return width;
}

function pad(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)));
}

function joinLines(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
