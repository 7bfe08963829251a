import type { Type } from '@nestjs/common';
import type { Call, InTransaction, TenantCall } from '../call.js';
import type { TenantDatabase } from '../gateway/tenant-database.js';
import type { JsonRow, RequiredReferences, Row } from '../records/record-statements.js';
import { RecordPromise } from '../records/stored-record.js';
import { TenantRepository } from '../records/tenant-repository.js';
import type { Conditions } from './conditions.js';
import type { CountParameters, Counts } from './count.dto.js';
import { type Groupings, groupingOf } from './grouping.js';
import type { FiltersOf } from './list-query.js';
import type { CursorPage, Page } from './page.js';
import { type ListParameters, RecordList, type ListSource } from './record-list.js';
import { ValueCounts } from './value-counts.js';

/** Base class of repositories of records that are listed by page numbers and by cursor, and can refer to other records. */
export abstract class ListedRepository<
  R extends { id: string },
  Query extends ListParameters,
  Item extends object = R,
> extends TenantRepository<R> {
  protected readonly items: RecordList<Item>;
  private readonly counts: ValueCounts;

  /** @param references columns with ids of records that must exist when a record is inserted */
  constructor(
    database: TenantDatabase,
    private readonly source: ListSource<Item> & {
      readonly entity: Type<R>;
      /** By what records are counted. */
      readonly groupings?: Groupings;
    },
    private readonly references?: RequiredReferences,
  ) {
    super(database, source.entity, source.computed);
    this.items = new RecordList<Item>(database, source);
    this.counts = new ValueCounts(database, this.table);
  }

  /** The filters of a list. */
  protected abstract conditionsOf(call: Call, query: FiltersOf<Query>): Conditions;

  /** @throws ApiError `query_failed` */
  list(call: Call, query: Query): Promise<Page<Item>> {
    return this.items.page(this.conditionsOf(call, query), query);
  }

  /** Like `list`, by cursor. */
  listAfter(call: Call, query: Query): Promise<CursorPage<Item>> {
    return this.items.pageAfter(this.conditionsOf(call, query), query);
  }

  /**
   * Like `find`, with fields about related records.
   * @param include their names, as in the parameter of the list. Without it, the record is that of `find`.
   */
  findWithRelated(
    call: TenantCall,
    id: string,
    include: readonly string[] | undefined,
  ): RecordPromise<R, undefined> {
    if (!include) return this.find(call, id);
    return RecordPromise.of(async () => {
      const related = this.source.includes?.sqlOf(include) ?? {};
      const { jsonFromTable, parser } = this.columns.withRelated(call, related);
      const text = `select id, row_to_json(record)::text as json from (
        select ${jsonFromTable} from ${this.table.name} where ${this.isRecord}) record`;
      const values = [call.tenant.id, id.toLowerCase()];
      const [row] = await this.database.read<JsonRow>(call, { text, values, plan: 'custom' });
      return row && Object.assign(parser.stored(row), { hasRelated: true });
    });
  }

  /**
   * Counts records by value.
   * @param listKeys the keys of custom fields whose values are arrays, whose elements are counted
   * @throws ApiError `validation_error` for a time zone that PostgreSQL does not know, `query_failed`
   */
  count(
    call: Call,
    query: FiltersOf<Query> & CountParameters,
    listKeys: readonly string[] = [],
  ): Promise<Counts> {
    const { by, time_zone = call.tenant.timeZone } = query;
    const grouping = groupingOf(this.source.groupings ?? {}, by);
    if (!grouping) throw new Error(`${this.table.name} are not counted by ${by}.`);
    const isList = grouping.key !== undefined && listKeys.includes(grouping.key);
    const conditions = this.conditionsOf(call, query);
    return this.counts.read(conditions, { ...grouping, isList }, time_zone);
  }

  /**
   * @returns undefined if a record that it refers to does not exist
   * @throws ApiError `create_failed`
   * @throws UniqueViolation
   */
  insert(call: TenantCall, row: Row & { id: string }): RecordPromise<R, undefined> {
    return this.insertRow(call, row, this.references);
  }

  /**
   * Inserts records in one statement.
   * @returns undefined for each that refers to a record which does not exist, or has a value of another one that is unique
   * @throws ApiError `create_failed`
   */
  insertTogether(call: TenantCall, rows: readonly (Row & { id: string })[]) {
    return this.insertEach(call, rows, this.references);
  }

  /**
   * Locks the records to which rows refer against deletion, until the transaction ends. Call it before records of this
   * table are locked.
   * @returns the ids of those that exist
   * @throws ApiError `create_failed`
   */
  async lockReferences(call: InTransaction, rows: readonly Row[]): Promise<ReadonlySet<string>> {
    const existingIds = new Set<string>();
    for (const [column, existing] of Object.entries(this.references ?? {})) {
      const ids = rows.flatMap((row) => row[column] ?? []);
      if (ids.length === 0) continue;
      const text = existing('$1', 'select unnest($2::uuid[])');
      const values = [call.tenant.id, ids];
      const found = await call.transaction.query<{ id: string }>({ text, values });
      for (const { id } of found) existingIds.add(id);
    }
    return existingIds;
  }
}
