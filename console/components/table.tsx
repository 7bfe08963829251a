import type { ComponentChildren } from 'preact';
import { texts } from '../texts.js';

export interface Column<Row> {
  readonly name: string;
  readonly label: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** The order of the service by this column, if it has one. */
  readonly sortBy?: string;
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
  const { label, sortBy, isNumber } = column;
  const direction = sortBy !== undefined && sort?.by === sortBy ? sort.direction : undefined;
  const order = direction && ({ asc: 'ascending', desc: 'descending' } as const)[direction];
  return (
    <th scope="col" aria-sort={order} class={isNumber ? 'number' : undefined}>
      {sortBy !== undefined && onSort ? (
        <button
          type="button"
          class="quiet"
          title={texts.data.sortBy(label)}
          onClick={() => {
            onSort({ by: sortBy, direction: direction === 'desc' ? 'asc' : 'desc' });
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
