import type { ComponentChildren } from 'preact';
import { texts } from '../texts.js';

export interface Column<Row> {
  readonly name: string;
  readonly label: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Whether the service can sort by this column. */
  readonly isSortable?: boolean;
  readonly isNumber?: boolean;
}

export interface Sort {
  readonly by: string;
  readonly direction: 'asc' | 'desc';
}

interface TableProps<Row> {
  /** Names the table for screen readers. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly sort?: Sort;
  readonly onSort?: (sort: Sort) => void;
}

/** Records in rows. The region scrolls where the page is narrow. */
export function Table<Row>({ caption, columns, rows, keyOf, sort, onSort }: TableProps<Row>) {
  return (
    <div class="scroll" role="region" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <HeadCell key={column.name} column={column} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, cell, isNumber }) => (
                <td key={name} class={isNumber ? 'number' : undefined}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface HeadCellProps<Row> {
  readonly column: Column<Row>;
  readonly sort: Sort | undefined;
  readonly onSort: ((sort: Sort) => void) | undefined;
}

function HeadCell<Row>({ column, sort, onSort }: HeadCellProps<Row>) {
  const { name, label, isSortable = false, isNumber } = column;
  const direction = sort?.by === name ? sort.direction : undefined;
  const order = direction && ({ asc: 'ascending', desc: 'descending' } as const)[direction];
  const next = { by: name, direction: direction === 'desc' ? 'asc' : 'desc' } as const;
  return (
    <th scope="col" aria-sort={order} class={isNumber ? 'number' : undefined}>
      {isSortable && onSort ? (
        <button
          type="button"
          class="quiet"
          title={texts.data.sortBy(label)}
          onClick={() => {
            onSort(next);
          }}
        >
          {label}
          {direction && <span aria-hidden="true">{direction === 'asc' ? ' ↑' : ' ↓'}</span>}
        </button>
      ) : (
        <span dir="auto">{label}</span>
      )}
    </th>
  );
}
