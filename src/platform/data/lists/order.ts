import type { Type } from '@nestjs/common';
import { tableOf } from '../records/tenant-entity.js';
import { fieldsOf, isClearable } from '../../fields/field.js';
import { rulesOf } from '../../fields/validation/rule-metadata.js';
import type { SORT_DIRECTIONS } from './list-query.js';

/**
 * The order of a list; ties are broken by `id`, empty values come last
 * (docs/contract/lists.md#sorting).
 */
export interface Order {
  readonly column: string;
  readonly direction: (typeof SORT_DIRECTIONS)[number];
  readonly nullable: boolean;
  /** The collation of the order, if it is not that of the column. The index of the sort must have it, too. */
  readonly collation?: string;
}

/** The ORDER BY clause; with `end` that of the reverse order, which reads the last pages from the end of the list. */
export function orderBy(order: Order, from: 'start' | 'end' = 'start'): string {
  const { column, nullable, collation } = order;
  const isAscending = (order.direction === 'asc') === (from === 'start');
  const direction = isAscending ? 'asc' : 'desc';
  // PostgreSQL uses an index for an order only if both have the same position of nulls.
  const nulls = nullable ? ` nulls ${from === 'start' ? 'last' : 'first'}` : '';
  const sorted = collation ? `${column} collate ${collation}` : column;
  return `order by ${sorted} ${direction}${nulls}, id ${direction}`;
}

/** The column of a value of `sort_by`. */
export type Sort = Omit<Order, 'direction'>;

/**
 * Returns the sorts of a list by the values of `sort_by`. Without this parameter, the list has the order of
 * its table.
 * @param query the class of the query parameters
 * @param others the sorts whose column has another name or collation
 * @throws Error if the entity does not declare a sort. Startup checks that the declared ones have an index.
 */
export function sortsOf(
  entity: Type<object>,
  query: Type<object> | undefined,
  others: Readonly<Record<string, Partial<Sort>>> = {},
): ReadonlyMap<string, Sort> {
  const { name: table, order, sorts } = tableOf(entity);
  const nullable = fieldsOf(entity)
    .filter(isClearable)
    .map(({ name }) => name);
  const byName = (valuesOfSortBy(query) ?? [order]).map((name): [string, Sort] => {
    return [name, { column: name, nullable: nullable.includes(name), ...others[name] }];
  });
  for (const [name, { column }] of byName) {
    if (sorts.includes(column)) continue;
    throw new Error(
      `The list of ${table} has the sort ${name}, but @TenantEntity('${table}') does not. Add the column ${column} to its sorts, so that startup checks that it has an index.`,
    );
  }
  return new Map(byName);
}

/** The rules of class-validator that name the values of a property. */
const IN_LIST: ReadonlySet<string> = new Set(['isIn', 'isEnum']);

function valuesOfSortBy(query: Type<object> | undefined): readonly string[] | undefined {
  if (!query) return undefined;
  const field = fieldsOf(query).find(({ name }) => name === 'sort_by');
  // `@IsIn()` has the values as its constraint, `@IsEnum()` as its last one.
  const rule = rulesOf(query).find(
    ({ propertyName, name = '' }) => propertyName === 'sort_by' && IN_LIST.has(name),
  );
  return (field?.schema.enum ?? rule?.constraints.at(-1)) as readonly string[] | undefined;
}
