import type { Sort } from '../components/table.js';
import { changeQuery, decoded, useRoute } from '../state/router.js';

/** Parameters of the address that are no filters. */
const OTHERS: readonly string[] = ['sort', 'columns', 'from'];

/** What a list shows. It is in the address, so a link to a view shows the same. */
export interface ListState {
  /** By the names of the parameters of the API. */
  readonly filters: ReadonlyMap<string, string>;
  readonly sort: Sort;
  /** The names of the columns; undefined: those of the list. */
  readonly columns: readonly string[] | undefined;
  /** Where the page begins: a cursor, or the number of the page. */
  readonly from: string | undefined;
}

export function useListState(order: Sort): ListState {
  const { query } = useRoute();
  const [by, direction] = (query.get('sort') ?? '').split(':');
  return {
    filters: new Map([...query].filter(([name]) => !OTHERS.includes(name))),
    sort: by ? { by, direction: direction === 'asc' ? 'asc' : 'desc' } : order,
    columns: query.get('columns')?.split(',').map(decoded),
    from: query.get('from') ?? undefined,
  };
}

/** Another filter begins with the first page. */
export function setFilter(name: string, value: string | undefined): void {
  changeQuery({ [name]: value, from: undefined });
}

export function clearFilters(names: Iterable<string>): void {
  changeQuery({
    ...Object.fromEntries([...names].map((name) => [name, undefined])),
    from: undefined,
  });
}

export function setSort({ by, direction }: Sort): void {
  changeQuery({ sort: `${by}:${direction}`, from: undefined });
}

export function setColumns(names: readonly string[]): void {
  // The name of a custom field can have a comma.
  changeQuery({ columns: names.map(encodeURIComponent).join(',') });
}

const MAX_ROWS = 50;

/** Parameters of a request for a list. */
export type Parameters = Readonly<Record<string, string | number>>;

/** The parameters for a list that has no search of its own: the search is a condition on these fields. */
export function searchIn(
  fields: readonly string[],
  { search, filter, ...others }: Parameters,
): Parameters {
  if (search === undefined) return filter === undefined ? others : { ...others, filter };
  const found = { or: fields.map((field) => ({ [field]: { contains: String(search) } })) };
  const both = filter === undefined ? found : { and: [JSON.parse(String(filter)), found] };
  return { ...others, filter: JSON.stringify(both) };
}

/**
 * The parameters of a request. In the order of creation, a list is read by cursor, so that the service counts nothing
 * before it answers. In another order, it is read by page.
 */
export function requestOf({ filters, sort, from }: ListState): Parameters {
  const query = { ...Object.fromEntries(filters), limit: MAX_ROWS };
  if (sort.by === 'created_at') {
    return { ...query, [sort.direction === 'asc' ? 'after' : 'before']: from ?? '' };
  }
  return { ...query, sort_by: sort.by, sort_dir: sort.direction, page: Number(from ?? 1) };
}

/** The meta of a page of the API: by cursor, or by number. */
interface Meta {
  readonly next?: string;
  readonly has_more?: boolean;
  readonly page?: number;
  readonly total_pages?: number;
}

/** Where the next page begins; undefined after the last one. */
export function nextOf({ next, has_more: hasMore, page = 1, total_pages: pages = 0 }: Meta) {
  if (next !== undefined) return hasMore ? next : undefined;
  return page < pages ? String(page + 1) : undefined;
}
