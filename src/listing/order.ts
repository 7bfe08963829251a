import type { SORT_DIRECTIONS } from './list-query.js';

/**
 * The order of a list; ties are broken by `id`, empty values come last
 * (docs/contract/lists.md#sorting).
 */
export interface Order {
  readonly column: string;
  readonly direction: (typeof SORT_DIRECTIONS)[number];
  readonly nullable: boolean;
}

/** The ORDER BY clause, or that of the reverse order. */
export function orderBy(order: Order, from: 'start' | 'end' = 'start'): string {
  const { column, nullable } = order;
  const isAscending = (order.direction === 'asc') === (from === 'start');
  const direction = isAscending ? 'asc' : 'desc';
  // An index serves the position of nulls only if it is declared with the same one.
  const nulls = nullable ? ` nulls ${from === 'start' ? 'last' : 'first'}` : '';
  return `order by ${column} ${direction}${nulls}, id ${direction}`;
}
