import { Integer, OneOf } from '../fields/kinds.js';

export const SORT_DIRECTIONS = ['asc', 'desc'] as const;

/** Pages beyond it would skip more rows than a number can count exactly. */
const LAST_PAGE = Math.floor(Number.MAX_SAFE_INTEGER / 100);

/** The parameters that every list takes (api.md 4.1). */
export class ListQuery {
  @Integer({ min: 1, max: LAST_PAGE, default: 1 }) page: number;
  @Integer({ min: 1, max: 100, default: 50 }) limit: number;
  @OneOf(SORT_DIRECTIONS, { default: 'desc' }) sort_dir: (typeof SORT_DIRECTIONS)[number];
}
