import { Integer, OneOf } from '../fields/kinds.js';

export const SORT_DIRECTIONS = ['asc', 'desc'] as const;

/** Pages beyond it would skip more rows than a number can count exactly. */
const LAST_PAGE = Math.floor(Number.MAX_SAFE_INTEGER / 100);

/** The parameters that every list takes (docs/contract/lists.md#paging). */
export class ListQuery {
  @Integer({
    min: 1,
    max: LAST_PAGE,
    default: 1,
    description: 'Number of the page. One past the last is empty.',
    example: 1,
  })
  page: number;

  @Integer({
    min: 1,
    max: 100,
    default: 50,
    description: 'Most records on a page.',
    example: 50,
  })
  limit: number;

  @OneOf(SORT_DIRECTIONS, {
    default: 'desc',
    description:
      'Direction of the order. Ties are broken by `id` in the same direction; empty values come last in both.',
    example: 'desc',
  })
  sort_dir: (typeof SORT_DIRECTIONS)[number];
}

/** The parameter that names the field by which a list is ordered. */
export function SortBy<T extends string>(fields: readonly T[], fallback: T) {
  const description = 'Field by which the list is ordered.';
  return OneOf(fields, { default: fallback, description, example: fallback });
}
