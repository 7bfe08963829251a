import type { Type } from '@nestjs/common';
import { jsonColumnsOf, StoredItems } from '../database/stored-record.js';
import type { Statement, TenantDatabase } from '../database/tenant-database.js';
import { namesOf } from '../fields/field.js';
import type { ListQuery } from './list-query.js';
import { Page } from './page.js';

/** Conditions on the records of an organization, joined by AND, with their parameters. */
export class Conditions {
  readonly values: unknown[];
  private readonly clauses: string[];

  constructor(
    readonly organizationId: string,
    ...fixed: string[]
  ) {
    this.values = [organizationId];
    this.clauses = ['organization_id = $1', ...fixed];
  }

  /** Adds `clause` with its `?` as the value's parameter, unless there is no value. */
  add(clause: string, value: unknown): this {
    if (value === undefined) return this;
    this.clauses.push(clause.replace('?', this.parameter(value)));
    return this;
  }

  parameter(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  get sql(): string {
    return this.clauses.join(' and ');
  }
}

/** What a list reads and how it is ordered; never text from a caller. */
export interface ListSource<T extends object> {
  readonly table: string;
  /** The fields of an item, which are columns of the table. */
  readonly item: Type<T>;
  readonly sort: { readonly column: string; readonly nullable: boolean };
}

interface ListRow {
  readonly total: number;
  /** The items as JSON, separated by commas; null where the page is empty. */
  readonly items: string | null;
}

/**
 * Reads a page and its exact total in one statement.
 * @throws ApiError `query_failed`
 */
export async function readPage<T extends object>(
  database: TenantDatabase,
  source: ListSource<T>,
  conditions: Conditions,
  query: ListQuery,
  plan: Statement['plan'] = 'prepared',
): Promise<Page<T>> {
  const statement = { ...listStatement(source, conditions, query), plan };
  const [row] = await database.read<ListRow>(conditions.organizationId, statement);
  const { page, limit } = query;
  const items = new StoredItems(source.item, `[${row?.items ?? ''}]`);
  return new Page(items, { page, limit, total: row?.total ?? 0 });
}

function listStatement<T extends object>(
  { table, item, sort }: ListSource<T>,
  conditions: Conditions,
  { page, limit, sort_dir: direction }: ListQuery,
): Statement {
  // An index can serve `desc nulls last` only where it is declared so.
  const nulls = sort.nullable ? ' nulls last' : '';
  const count = `select count(*)::int from ${table} where ${conditions.sql}`;
  const rows = `select ${namesOf(item).join(', ')} from ${table} where ${conditions.sql}
    order by ${sort.column} ${direction}${nulls}, id ${direction}
    limit ${conditions.parameter(limit)} offset ${conditions.parameter((page - 1) * limit)}`;
  // Written as JSON outside, or it would be for every row that the offset skips.
  const items = `select row_to_json(item)::text as json
    from (select ${jsonColumnsOf(item)} from (${rows}) stored) item`;
  return {
    text: `select (${count}) as total, (select string_agg(json, ',') from (${items}) page) as items`,
    values: conditions.values,
  };
}
