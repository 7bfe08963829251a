import type { Type } from '@nestjs/common';
import { ColumnsOfCalls, type ComputedFields } from '../records/stored-record.js';
import type { Statement } from '../gateway/statement.js';
import type { TenantDatabase } from '../gateway/tenant-database.js';
import { tableOf, type TenantTable, updateTimesOf } from '../records/tenant-entity.js';
import type { Conditions } from './conditions.js';
import type { Includes } from './includes.js';
import type { ListQuery } from './list-query.js';
import {
  countedPage,
  type CursorRow,
  LOOKUP_LIMIT,
  filteredPage,
  firstPage,
  pageByCursor,
  pageWithCachedTotal,
  type CachedTotal,
  type ListRow,
  searchedPage,
  type OrganizationSize,
  sizeOf,
  type ListSelection,
} from './list-statement.js';
import { readSelected } from './broad-filter.js';
import { matchingInOrder } from './matching-records.js';
import { type Sort, sortsOf } from './order.js';
import { CursorPage, Page } from './page.js';
import { parseCursor } from './cursor.js';

/** Maximum numbers of cached totals and sizes, of at most 200 bytes each. */
const MAX_CACHED = 5_000;

/** The entity and columns of a list. They are SQL and must never come from a caller. */
export interface ListSource<T extends object> {
  readonly entity: Type<T>;
  /** The class of an item, with fields of the entity. Default: the entity. */
  readonly item?: Type<T>;
  /** The class of the query parameters. Without it, the list has the order of its table. */
  readonly query?: Type<ListQuery>;
  /** The values of `sort_by` whose column has another name or collation. */
  readonly sorts?: Readonly<Record<string, Partial<Sort>>>;
  /** Additional fields, which the items of some calls have. */
  readonly computed?: ComputedFields;
  /** Fields about related records, which the items of some requests have. */
  readonly includes?: Includes;
}

/** What the query parameters of a list ask for, except its filters. */
export interface ListParameters extends ListQuery {
  readonly sort_by?: string;
  readonly after?: string;
  readonly before?: string;
  readonly fields?: readonly string[];
  readonly include?: readonly string[];
}

/** Reads pages of a table with exact totals, or by cursor. Each page takes one statement. */
export class RecordList<T extends object> {
  private readonly table: TenantTable;
  private readonly columns: ColumnsOfCalls<T>;
  /** The columns of whole records. */
  private readonly whole: ColumnsOfCalls<T>;
  private readonly sorts: ReadonlyMap<string, Sort>;
  private readonly totals = new Map<string, CachedTotal>();
  private readonly sizes = new Map<string, OrganizationSize>();
  private readonly includes: Includes | undefined;

  /** @throws Error if the table does not declare a sort of the query */
  constructor(
    private readonly database: TenantDatabase,
    source: ListSource<T>,
  ) {
    const { entity, item = entity, computed } = source;
    this.table = tableOf(entity);
    this.columns = new ColumnsOfCalls(item, computed);
    this.whole = new ColumnsOfCalls(entity, computed);
    this.includes = source.includes;
    this.sorts = sortsOf(entity, source.query, source.sorts);
  }

  /** @throws ApiError `query_failed` */
  async page(conditions: Conditions, query: ListParameters): Promise<Page<T>> {
    const { page, limit, sort_dir: direction, sort_by = this.table.order } = query;
    const offset = (page - 1) * limit;
    const order = { ...this.sortOf(sort_by), direction };
    const { selection, parser, isUsual } = this.select(conditions, { order, limit, offset }, query);
    const { total, items } = await this.read(selection, isUsual);
    return new Page(parser.list(items), { page, limit, total });
  }

  /**
   * Reads the list by cursor, in the order of `created_at`, or that of the table without it, and `id`. With `before`, the
   * newest come first. Its pages have each record once, however others write.
   * @throws ApiError `query_failed`
   */
  async pageAfter(
    conditions: Conditions,
    query: Omit<ListParameters, 'page' | 'sort_dir'>,
  ): Promise<CursorPage<T>> {
    const { after, before, limit } = query;
    const direction = before === undefined ? 'asc' : 'desc';
    const order = { ...this.cursorSort, direction } as const;
    const from = after ?? before ?? '';
    const cursor = parseCursor(from);
    if (cursor) conditions.after(cursor, order);
    const { selection, parser } = this.select(conditions, { order, limit, offset: 0 }, query);
    const row = await this.run<CursorRow>(selection, pageByCursor(selection), 'custom');
    const { next, has_more } = row;
    return new CursorPage<T>(parser.list(row.items).json, { next: next ?? from, has_more });
  }

  /**
   * SQL of all records that conditions select, in the order of `created_at`, or that of the table without it, and `id`.
   * @param columns SQL, which must never come from a caller
   */
  allInOrder(conditions: Conditions, columns: readonly string[]): string {
    const { name: table } = this.table;
    const order = { ...this.cursorSort, direction: 'asc' } as const;
    return matchingInOrder(
      { table, updateTimes: updateTimesOf(this.table), conditions, order },
      columns,
    );
  }

  private select(
    conditions: Conditions,
    part: Pick<ListSelection, 'order' | 'limit' | 'offset'>,
    { fields, include }: Pick<ListParameters, 'fields' | 'include'>,
  ) {
    const { call } = conditions;
    const isUsual = fields === undefined && include === undefined;
    const all = fields ? this.whole : this.columns;
    const related = include ? (this.includes?.sqlOf(include) ?? {}) : {};
    const chosen = isUsual ? all.of(call) : all.withRelated(call, related, fields);
    const { columns, jsonColumns, parser } = chosen;
    const { name: table, counted } = this.table;
    const isCounted = counted !== undefined;
    const updateTimes = updateTimesOf(this.table);
    const records = { table, updateTimes, isCounted, columns, jsonColumns, conditions };
    const selection = { ...records, ...part };
    return { selection, parser, isUsual };
  }

  private get cursorSort(): Sort {
    return this.sorts.get('created_at') ?? this.sortOf(this.table.order);
  }

  private sortOf(name: string): Sort {
    const sort = this.sorts.get(name);
    if (sort) return sort;
    throw new Error(`The list of ${this.table.name} has no sort ${name}.`);
  }

  /** @param isUsual whether the items have the fields of most requests */
  private read(selection: ListSelection, isUsual: boolean): Promise<ListRow> {
    const { conditions, order, offset } = selection;
    if (conditions.isBroad) return this.filter(selection);
    const filter = conditions.soleEquality;
    const { counted = [] } = this.table;
    const hasTotal = filter ? counted.includes(filter.column) : conditions.isEmpty;
    if (!selection.isCounted || !hasTotal) return this.search(selection);
    const isIndexed = !filter || order.column === this.table.order;
    // Most requests are for first pages, which have few distinct statements. They stay prepared.
    if (isIndexed && offset === 0 && isUsual) {
      return this.run<ListRow>(selection, firstPage(selection, filter), 'index');
    }
    const plan = isIndexed && isUsual ? 'prepared' : 'custom';
    return this.run<ListRow>(selection, countedPage(selection, filter), plan);
  }

  /**
   * Runs a search. The result never depends on the caches alone: the statement counts again if the
   * version of the records differs from that of the cached total, and the size only affects the plan.
   */
  private async search(selection: ListSelection): Promise<ListRow> {
    const { call, sql, values } = selection.conditions;
    const key = JSON.stringify([sql, values]);
    const known = this.totals.get(key);
    const size = this.sizes.get(call.tenant.id) ?? 'large';
    const text = known
      ? pageWithCachedTotal(selection, size, known)
      : searchedPage(selection, size);
    const row = await this.run<ListRow>(selection, text, 'custom');
    const { total, version = '' } = row;
    if (this.totals.size >= MAX_CACHED) this.totals.clear();
    this.setSize(selection, row);
    if (selection.isCounted && total > LOOKUP_LIMIT) this.totals.set(key, { total, version });
    else this.totals.delete(key);
    return row;
  }

  /** Its total is not cached, because the filter can depend on other records as well. */
  private async filter(selection: ListSelection): Promise<ListRow> {
    const { id } = selection.conditions.call.tenant;
    const text = filteredPage(selection, this.sizes.get(id) ?? 'large');
    const row = await this.run<ListRow>(selection, text, 'custom');
    this.setSize(selection, row);
    return row;
  }

  private setSize({ isCounted, conditions }: ListSelection, { records = 0 }: ListRow): void {
    if (this.sizes.size >= MAX_CACHED) this.sizes.clear();
    if (isCounted) this.sizes.set(conditions.call.tenant.id, sizeOf(records));
  }

  private async run<Row>(
    { conditions, order }: ListSelection,
    text: string,
    plan: Statement['plan'],
  ): Promise<Row> {
    const { values } = conditions;
    const ordersNames = order.collation !== undefined;
    const statement = { text, values, plan, mayUseReplica: true, ordersNames };
    const [row] = (await readSelected<Row>(this.database, conditions, statement)) as [Row];
    return row;
  }
}
