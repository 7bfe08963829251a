import { recordCount, recordsVersion } from '../records/record-counts.js';
import type { Conditions, Equality } from './conditions.js';
import { cursorSql } from './cursor.js';
import {
  isInOrderOfTimes,
  matchingCount,
  matchingInOrder,
  matchingTable,
  type Part,
} from './matching-records.js';
import { type Order, orderBy } from './order.js';

/** Up to this number of matches, one lookup provides both the page and the total. */
export const LOOKUP_LIMIT = 1_000;

/**
 * The approximate number of records of an organization. It affects only the speed: small organizations
 * are searched record by record, in medium ones many matches are counted record by record, and in
 * large ones PostgreSQL chooses the plan.
 */
export type OrganizationSize = 'small' | 'medium' | 'large';

export function sizeOf(records: number): OrganizationSize {
  if (records <= 5_000) return 'small';
  return records <= 200_000 ? 'medium' : 'large';
}

/** A total that was counted by a scan, and the version of the records at that time. */
export interface CachedTotal {
  readonly total: number;
  readonly version: string;
}

/** The records that a page selects, and their order. */
export interface ListSelection {
  readonly table: string;
  readonly updateTimes?: string | undefined;
  /** Whether triggers count the records of the table. */
  readonly isCounted: boolean;
  /** The columns of an item. */
  readonly columns: readonly string[];
  /** The SELECT list that converts these columns to JSON. */
  readonly jsonColumns: string;
  readonly conditions: Conditions;
  readonly order: Order;
  readonly limit: number;
  readonly offset: number;
}

/** The single row that the statement of a page returns. The functions below write their SQL, and add parameters. */
export interface ListRow {
  readonly total: number;
  /** The items as JSON, separated by commas; null if the page is empty. */
  readonly items: string | null;
  /** Version of the organization's records; set by searches only. */
  readonly version?: string;
  readonly records?: number;
}

/** The first page of a list with a counted total, in the order of an index. */
export function firstPage(selection: ListSelection, filter?: Equality): string {
  const { table, columns, conditions, order } = selection;
  const limit = `limit ${conditions.parameter(selection.limit)}::bigint`;
  const rows = isInOrderOfTimes(selection)
    ? `select ${columns.join(', ')} from ${table} where organization_id = $1
        and id = any(array(${matchingInOrder(selection, ['id'], { limit })})) ${orderBy(order)}`
    : matchingInOrder(selection, columns, { limit });
  return `select ${countOf(table, filter)} as total, ${asJson(selection, rows)} as items`;
}

/** Any page of a list with a counted total. */
export function countedPage(selection: ListSelection, filter?: Equality): string {
  const limit = `${selection.conditions.parameter(selection.limit)}::bigint`;
  return `with total as materialized (select ${countOf(selection.table, filter)} as n),
    page as (${pageIdQueries({ ...selection, limit }).join(' union all ')})
    select n as total, ${itemsOfPage(selection)} as items from total`;
}

/** The row that `pageByCursor` returns. */
export interface CursorRow extends Pick<ListRow, 'items'> {
  readonly has_more: boolean;
  /** The cursor of the last item; null if there is none. */
  readonly next: string | null;
}

/** A page of a list that is read by cursor. One record more than the page has is looked up. */
export function pageByCursor(selection: ListSelection): string {
  const { columns, order, limit } = selection;
  const found = [...new Set([...columns, order.column, 'id'])];
  const last = orderBy(order, 'end');
  return `with found as materialized (
      ${matchingInOrder(selection, found, { limit: `limit ${limit + 1}` })}),
    page as (select * from found ${orderBy(order)} limit ${limit})
    select ${asJson(selection, `select * from page ${orderBy(order)}`)} as items,
      (select count(*) > ${limit} from found) as has_more,
      (select ${cursorSql(order.column)} from page ${last} limit 1) as next`;
}

/**
 * Any page of a list whose filter no index may serve. Every match is looked up once, in no order, for both the page and the
 * total: otherwise PostgreSQL may read the index of the order until it has found enough, which can be at its end.
 */
export function filteredPage(selection: ListSelection, size: OrganizationSize): string {
  const { table, conditions, order, limit } = selection;
  const [from, sql] =
    usesSize(selection) && size === 'small'
      ? [allRecords(selection), conditions.filterSql]
      : [matchingTable(selection), conditions.sql];
  const offset = conditions.parameter(selection.offset);
  return `with found as materialized (select id, ${order.column} from ${from} where ${sql}),
    page as (select id from found ${orderBy(order)} limit ${limit} offset ${offset})
    select (select count(*)::int from found) as total, ${itemsOfPage(selection)} as items,
      ${recordCount(table)} as records`;
}

/**
 * Any page of a list whose total is not counted. The CTE `found` has the first matches, in the order of the list: all
 * in a small organization, otherwise one more than `LOOKUP_LIMIT`, which shows whether there are more. If there are,
 * the total is counted by a scan, and a page behind the first matches is read by queries of its own.
 */
export function searchedPage(selection: ListSelection, size: OrganizationSize): string {
  const { table, conditions, order, limit } = selection;
  const isSmall = usesSize(selection) && size === 'small';
  const isAll = `(select n <= ${LOOKUP_LIMIT} from total)`;
  const isDeep = !isSmall && selection.offset + limit > LOOKUP_LIMIT;
  const found = `(select id from found where ${isDeep ? isAll : 'true'} ${orderBy(order)}
    limit ${limit} offset ${conditions.parameter(selection.offset)})`;
  const pages = isDeep ? [found, ...pageIdQueries(selection, `not ${isAll}`)] : [found];
  const columns = ['id', order.column];
  const lookUp = isSmall
    ? `select ${columns.join(', ')} from ${allRecords(selection)} where ${conditions.filterSql}`
    : matchingInOrder(selection, columns, { limit: `limit ${LOOKUP_LIMIT + 1}` });
  const total = isSmall
    ? 'n'
    : `case when n <= ${LOOKUP_LIMIT} then n else ${countByScan(selection, size)} end`;
  return `with found as materialized (${lookUp}),
    total as materialized (
      select ${total} as n from (select count(*)::int as n from found) at_least),
    page as (${pages.join(' union all ')})
    select n as total, ${itemsOfPage(selection)} as items, ${recordsVersion(table)} as version,
      ${recordCount(table)} as records from total`;
}

/** Any page of a list with a cached total. The total is counted again if a record was written since. */
export function pageWithCachedTotal(
  selection: ListSelection,
  size: OrganizationSize,
  known: CachedTotal,
): string {
  const { table, conditions } = selection;
  const [version, total] = [known.version, known.total].map((value) => conditions.parameter(value));
  return `with total as materialized (
      select case when version = ${version} then ${total} else ${countByScan(selection, size)} end as n, version
      from (select ${recordsVersion(table)} as version) current),
    page as (${pageIdQueries(selection).join(' union all ')})
    select n as total, ${itemsOfPage(selection)} as items, version,
      ${recordCount(table)} as records from total`;
}

function countOf(table: string, filter?: Equality): string {
  return recordCount(table, filter?.column, filter && `(${filter.parameter})::text`);
}

/** SQL of the number of matching records. */
function countByScan(selection: ListSelection, size: OrganizationSize): string {
  const { conditions } = selection;
  return usesSize(selection) && size !== 'large'
    ? `(select count(*)::int from ${allRecords(selection)} where ${conditions.filterSql})`
    : matchingCount(selection);
}

/** Whether the plan depends on the size of the organization. */
function usesSize({ isCounted, conditions }: ListSelection): boolean {
  return isCounted && conditions.isSearch;
}

/**
 * All records of the organization, as a subquery. `offset 0` keeps PostgreSQL from pushing conditions
 * into it. Otherwise it would use the trigram index over all organizations, whose cost it underestimates
 * if this organization has few of the records. It has the name of the table, by which conditions refer to it.
 */
function allRecords({ table, conditions }: ListSelection): string {
  return `(select * from ${table} where ${conditions.scopeSql} offset 0) ${table}`;
}

type PageQuery = Omit<ListSelection, 'limit'> & { readonly limit: number | string };

/** Queries of the ids of a page. It is read from the nearer end of the list. */
function pageIdQueries(selection: PageQuery, condition = 'true'): string[] {
  const { conditions, limit } = selection;
  const ids = (part: Part) => `(${matchingInOrder(selection, ['id'], part)})`;
  if (selection.offset === 0) return [ids({ condition, limit: `limit ${limit}` })];
  const offset = `${conditions.parameter(selection.offset)}::bigint`;
  const left = `(select n - ${offset} from total)`;
  return [
    ids({
      condition: `${condition} and (select ${offset} * 2 <= n from total)`,
      limit: `limit ${limit} offset ${offset}`,
    }),
    ids({
      condition: `${condition} and (select ${offset} * 2 > n from total)`,
      from: 'end',
      limit: `limit greatest(least(${limit}, ${left}), 0) offset greatest(${left} - ${limit}, 0)`,
    }),
  ];
}

/** SQL of the JSON of the records whose ids are in `page`. */
function itemsOfPage(selection: ListSelection): string {
  const { table, columns, order } = selection;
  return asJson(
    selection,
    `select ${columns.join(', ')} from ${table}
     where organization_id = $1 and id = any(array(select id from page)) ${orderBy(order)}`,
  );
}

/** The conversion is outside of the query of the rows, so that only returned rows are converted. */
function asJson({ jsonColumns }: ListSelection, rows: string): string {
  return `(select string_agg(json, ',') from (
    select row_to_json(item)::text as json from (select ${jsonColumns} from (${rows}) stored) item
  ) items)`;
}
