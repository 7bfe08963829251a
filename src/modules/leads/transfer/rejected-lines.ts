import { REJECTION_COLUMNS, rejectionColumnOf } from './column-names.js';
import type { Column } from './columns.js';
import { csvRow, type Escape, escapeFormula, isTextFormula } from './file-lines.js';
import type { RejectedLine } from './import-lines.repository.js';
import type { ImportPlan } from './lead-import.entity.js';

/** How the rejected lines of a file are written. */
interface RejectedFormat {
  readonly head: string;
  readonly lineOf: (line: RejectedLine) => string;
}

/**
 * CSV with the columns and the delimiter of the file, behind those of the line and the reasons. Formulas that are only a
 * text stay, unless the cells of the file had quotes, without which they are kept.
 */
export function rejectedCsv(
  { columns, delimiter, isEscaped }: ImportPlan,
  escape: Escape,
): RejectedFormat {
  const isOwn = (_: unknown, index: number) => !isOfEarlierRejection(columns[index]);
  const cellOf = (cell: string) => (isTextFormula(cell) && !isEscaped ? cell : escapeFormula(cell));
  const row = (cells: readonly string[]) =>
    csvRow(escape === 'formulas' ? cells.map(cellOf) : cells, 'none', delimiter);
  const noCells = columns.map(() => '');
  return {
    head: row([...REJECTION_COLUMNS, ...columns.map(({ header }) => header).filter(isOwn)]),
    lineOf: ({ line, reason, cells }) => {
      const given = cells as readonly string[];
      const own = given.length > 0 ? given : noCells;
      return row([String(line), reason, ...own.filter(isOwn)]);
    },
  };
}

/** Whether a column tells why a line of another import was rejected, in a file of these lines. */
function isOfEarlierRejection(column: Column | undefined): boolean {
  return column?.target === null && rejectionColumnOf(column.header) !== undefined;
}

/** The beginning of an object in a file of rejected lines, as `rejectedNdjson` writes it. */
const EARLIER_HEAD = new RegExp(
  String.raw`^\{"${REJECTION_COLUMNS[0]}":\d+,"${REJECTION_COLUMNS[1]}":"[^"\\]*(?:\\.[^"\\]*)*",?`,
);

/** The objects of the file, whose first names are the line and the reasons. */
export function rejectedNdjson({ columns }: ImportPlan): RejectedFormat {
  const [forLine, forReason] = REJECTION_COLUMNS;
  const isRepeated = columns.some(isOfEarlierRejection);
  return {
    head: '',
    lineOf: ({ line, reason, cells }) => {
      const head = JSON.stringify({ [forLine]: line, [forReason]: reason }).slice(0, -1);
      const text = isRepeated ? textOf(cells).replace(EARLIER_HEAD, '{') : textOf(cells);
      const rest = text.slice(1).trimStart();
      return `${head}${rest.startsWith('}') ? '' : ','}${rest}\n`;
    },
  };
}

/** The text of an object. Earlier versions have stored its value. An erased line has no cells. */
function textOf(cells: unknown): string {
  if (typeof cells === 'string') return cells;
  return Array.isArray(cells) ? '{}' : JSON.stringify(cells);
}
