import type { Statement } from '../database/tenant-database.js';
import type { ListQuery } from './list-query.js';
import { Page } from './page.js';

/** Conditions of a statement, joined by AND, with their parameters. */
export class Conditions {
  readonly values: unknown[] = [];
  private readonly clauses: string[] = [];

  constructor(...fixed: string[]) {
    this.clauses.push(...fixed);
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
export type ListRow<T> = { total: number } & (T | { [K in keyof T]: null });

/** One statement that reads a page and its exact total together. */
export function listStatement(
  { table, columns, sort }: ListSource,
  conditions: Conditions,
  { page, limit, sort_dir: direction }: ListQuery,
): Statement {
  // An index can serve `desc nulls last` only where it is declared so.
  const order = (prefix: string) =>
    `${prefix}${sort.column} ${direction}${sort.nullable ? ' nulls last' : ''}, ${prefix}id ${direction}`;
  const count = `select count(*)::int as total from ${table} where ${conditions.sql}`;
  const rows = `select ${columns.join(', ')} from ${table} where ${conditions.sql} order by ${order('')}
    limit ${conditions.parameter(limit)} offset ${conditions.parameter((page - 1) * limit)}`;
  return {
    text: `select counted.total, page.* from (${count}) counted
      left join (${rows}) page on true order by ${order('page.')}`,
    values: conditions.values,
  };
}

/** Makes the page of what `listStatement` returned. */
export function toPage<T extends { id: string }>(
  rows: readonly ListRow<T>[],
  { page, limit }: ListQuery,
): Page<T> {
  const items = rows.filter((row): row is { total: number } & T => row.id !== null);
  const data = items.map(({ total, ...item }) => item as unknown as T);
  return new Page(data, { page, limit, total: rows[0]?.total ?? 0 });
}
