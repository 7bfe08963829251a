import { recordCount, recordsVersion } from '../database/records/record-counts.js';
import type { Statement } from '../database/gateway/tenant.js';
import type { Conditions, Equality } from './conditions.js';
import { type Order, orderBy } from './order.js';

/** Matches up to this number are looked up once, for their page and their total alike. */
export const LOOKUP_LIMIT = 1_000;

/**
 * About how many records an organization has. A wrong guess costs time and nothing else: a small
 * one is searched record by record, in a medium one many matches are counted record by record, and
 * in a large one PostgreSQL chooses.
 */
export type OrganizationSize = 'small' | 'medium' | 'large';

export function sizeOf(records: number): OrganizationSize {
  if (records <= 5_000) return 'small';
  return records <= 200_000 ? 'medium' : 'large';
}

/** A total that took a scan, and the version of the records that it counts. */
export interface CachedTotal {
  readonly total: number;
  readonly version: string;
}

/** Which records of a table are answered, and how. */
export interface ListSelection {
  readonly table: string;
  /** Whether there are counts of its records. */
  readonly isCounted: boolean;
  /** The columns of an item. */
  readonly columns: readonly string[];
  /** The SELECT list that makes these columns what is answered. */
  readonly jsonColumns: string;
  readonly conditions: Conditions;
  readonly order: Order;
  readonly limit: number;
  readonly offset: number;
}

/** What each of these statements answers, in one row. */
export interface ListRow {
  readonly total: number;
  /** The items as JSON, separated by commas; null where the page is empty. */
  readonly items: string | null;
  /** Of all of the organization's records, where some had to be looked for. */
  readonly version?: string;
  readonly records?: number;
}

/** The first page of records whose total is counted, for which an index has their order. */
export function firstPage(slice: ListSelection, filter?: Equality): Statement {
  const { table, columns, conditions, order, limit } = slice;
  const rows = `select ${columns.join(', ')} from ${table} where ${conditions.sql}
    ${orderBy(order)} limit ${limit}`;
  return {
    text: `select ${countOf(table, filter)} as total, ${asJson(slice, rows)} as items`,
    values: conditions.values,
    cost: 'bounded',
  };
}

/** Any page of records whose total is counted. */
export function countedPage(slice: ListSelection, filter?: Equality): Statement {
  const limit = `${slice.conditions.parameter(slice.limit)}::bigint`;
  return {
    text: `with total as materialized (select ${countOf(slice.table, filter)} as n),
      page as (${pageIdQueries({ ...slice, limit }).join(' union all ')})
      select n as total, ${itemsOfPage(slice)} as items from total`,
    values: slice.conditions.values,
  };
}

/** Any page of records that have to be looked for, be they few or many. */
export function searchedPage(slice: ListSelection, size: OrganizationSize): Statement {
  const { table, conditions, order, limit } = slice;
  const isSmall = usesSize(slice) && size === 'small';
  const isAll = `(select n <= ${LOOKUP_LIMIT} from total)`;
  const isDeep = !isSmall && slice.offset + limit > LOOKUP_LIMIT;
  const found = `(select id from found where ${isDeep ? isAll : 'true'} ${orderBy(order)}
    limit ${limit} offset ${conditions.parameter(slice.offset)})`;
  const pages = isDeep ? [found, ...pageIdQueries(slice, `not ${isAll}`)] : [found];
  const columns = `id, ${order.column}`;
  const lookUp = isSmall
    ? `select ${columns} from ${allRecords(slice)} where ${conditions.filterSql}`
    : `select ${columns} from ${table} where ${conditions.sql}
       ${orderBy(order)} limit ${LOOKUP_LIMIT + 1}`;
  const total = isSmall
    ? 'n'
    : `case when n <= ${LOOKUP_LIMIT} then n else ${countByScan(slice, size)} end`;
  return {
    text: `with found as materialized (${lookUp}),
      total as materialized (
        select ${total} as n from (select count(*)::int as n from found) at_least),
      page as (${pages.join(' union all ')})
      select n as total, ${itemsOfPage(slice)} as items, ${recordsState(table)} from total`,
    values: conditions.values,
    plan: 'custom',
  };
}

/** Any page of records that were many, and are counted again only if any was written since. */
export function pageWithCachedTotal(
  slice: ListSelection,
  size: OrganizationSize,
  known: CachedTotal,
): Statement {
  const { table, conditions } = slice;
  const [version, total] = [known.version, known.total].map((value) => conditions.parameter(value));
  return {
    text: `with total as materialized (
        select case when version = ${version} then ${total} else ${countByScan(slice, size)} end as n, version
        from (select ${recordsVersion(table)} as version) current),
      page as (${pageIdQueries(slice).join(' union all ')})
      select n as total, ${itemsOfPage(slice)} as items, version,
        ${recordCount(table)} as records from total`,
    values: conditions.values,
    plan: 'custom',
  };
}

function countOf(table: string, filter?: Equality): string {
  return recordCount(table, filter?.column, filter && `(${filter.parameter})::text`);
}

/** The number of all that is wanted. */
function countByScan(slice: ListSelection, size: OrganizationSize): string {
  const { table, conditions } = slice;
  return usesSize(slice) && size !== 'large'
    ? `(select count(*)::int from ${allRecords(slice)} where ${conditions.filterSql})`
    : `(select count(*)::int from ${table} where ${conditions.sql})`;
}

/** What a list remembers of the organization's records. */
function recordsState(table: string): string {
  return `${recordsVersion(table)} as version, ${recordCount(table)} as records`;
}

/** Whether the size of the organization tells how to search it. */
function usesSize({ isCounted, conditions }: ListSelection): boolean {
  return isCounted && conditions.isSearch;
}

/**
 * All records of the organization, to be looked at one by one: the offset keeps conditions out, and
 * with them the index of the words of all organizations, which PostgreSQL takes for cheaper than it
 * is where this one has a small part of them.
 */
function allRecords({ table, conditions }: ListSelection): string {
  return `(select * from ${table} where ${conditions.scopeSql} offset 0) each`;
}

type PageQuery = Omit<ListSelection, 'limit'> & { readonly limit: number | string };

/** The ids of a page, read from whichever end of the list is nearer. */
function pageIdQueries(slice: PageQuery, condition = 'true'): string[] {
  const { table, conditions, order, limit } = slice;
  const ids = `select id from ${table} where ${conditions.sql} and ${condition}`;
  if (slice.offset === 0) return [`(${ids} ${orderBy(order)} limit ${limit})`];
  const offset = `${conditions.parameter(slice.offset)}::bigint`;
  const left = `(select n - ${offset} from total)`;
  return [
    `(${ids} and (select ${offset} * 2 <= n from total) ${orderBy(order)}
      limit ${limit} offset ${offset})`,
    `(${ids} and (select ${offset} * 2 > n from total) ${orderBy(order, 'end')}
      limit greatest(least(${limit}, ${left}), 0) offset greatest(${left} - ${limit}, 0))`,
  ];
}

/** The JSON of the records whose ids are in `page`. */
function itemsOfPage(slice: ListSelection): string {
  const { table, columns, order } = slice;
  return asJson(
    slice,
    `select ${columns.join(', ')} from ${table}
     where organization_id = $1 and id = any(array(select id from page)) ${orderBy(order)}`,
  );
}

/** Written as JSON outside, or it would be for every row that is not answered, too. */
function asJson({ jsonColumns }: ListSelection, rows: string): string {
  return `(select string_agg(json, ',') from (
    select row_to_json(item)::text as json from (select ${jsonColumns} from (${rows}) stored) item
  ) items)`;
}
