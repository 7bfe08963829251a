import { Integer, OneOf } from '../../fields/kinds/kinds.js';

export const SORT_DIRECTIONS = ['asc', 'desc'] as const;

export const MAX_LIMIT = 100;
export const DEFAULT_LIMIT = 50;

/** The offset of a later page would exceed the integers that a number holds exactly. */
const MAX_PAGE = Math.floor(Number.MAX_SAFE_INTEGER / MAX_LIMIT);

/** The query parameters of every list (docs/contract/lists.md#paging). */
export class ListQuery {
  @Integer({
    min: 1,
    max: MAX_PAGE,
    default: 1,
    description: 'Number of the page. One past the last is empty.',
    example: 1,
  })
  page: number;

  @Integer({
    min: 1,
    max: MAX_LIMIT,
    default: DEFAULT_LIMIT,
    description: 'Most records on a page.',
    example: DEFAULT_LIMIT,
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

/** Declares the parameter that selects the field of the order. */
export function SortBy<T extends string>(fields: readonly T[], fallback: T) {
  const description = 'Field by which the list is ordered.';
  return OneOf(fields, { default: fallback, description, example: fallback });
}
