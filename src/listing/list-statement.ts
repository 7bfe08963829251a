import type { Statement, TenantDatabase } from '../database/tenant-database.js';
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
export interface ListSource {
  readonly table: string;
  readonly columns: readonly string[];
  readonly sort: { readonly column: string; readonly nullable: boolean };
}

/** Every row repeats the total; where the page is empty, one row carries it alone. */
type ListRow<T> = { total: number; sort_key: unknown } & (T | { [K in keyof T]: null });

/**
 * Reads a page and its exact total in one statement.
 * @throws ApiError `query_failed`
 */
export async function readPage<T extends { id: string }>(
  database: TenantDatabase,
  source: ListSource,
  conditions: Conditions,
  query: ListQuery,
  plan: Statement['plan'] = 'prepared',
): Promise<Page<T>> {
  const statement = { ...listStatement(source, conditions, query), plan };
  const rows = await database.read<ListRow<T>>(conditions.organizationId, statement);
  const items = rows.filter((row): row is T & ListRow<T> => row.id !== null);
  const data = items.map(({ total, sort_key, ...item }) => item as unknown as T);
  const { page, limit } = query;
  return new Page(data, { page, limit, total: rows[0]?.total ?? 0 });
}

function listStatement(
  { table, columns, sort }: ListSource,
  conditions: Conditions,
  { page, limit, sort_dir: direction }: ListQuery,
): Statement {
  // An index can serve `desc nulls last` only where it is declared so.
  const nulls = sort.nullable ? ' nulls last' : '';
  const order = (key: string, id: string) => `${key} ${direction}${nulls}, ${id} ${direction}`;
  const count = `select count(*)::int as total from ${table} where ${conditions.sql}`;
  const rows = `select ${columns.join(', ')}, ${sort.column} as sort_key from ${table}
    where ${conditions.sql} order by ${order(sort.column, 'id')}
    limit ${conditions.parameter(limit)} offset ${conditions.parameter((page - 1) * limit)}`;
  return {
    text: `select counted.total, page.* from (${count}) counted
      left join (${rows}) page on true order by ${order('page.sort_key', 'page.id')}`,
    values: conditions.values,
  };
}
