import type { Conditions } from './conditions.js';
import { type Order, orderBy } from './order.js';

/** Records that conditions select, and how they are ordered. */
export interface Matching {
  readonly table: string;
  /** The table with the times of their last changes, if there is one (`updateTimesOf`). It has no deleted records. */
  readonly updateTimes?: string | undefined;
  readonly conditions: Conditions;
  readonly order: Order;
}

/** The part of a query after its ORDER BY. */
export interface Part {
  /** An additional condition. Default: none. */
  readonly condition?: string;
  readonly from?: 'start' | 'end';
  readonly limit?: string;
}

/** Up to this number, records that have changed in a period are looked up by their ids for a page. */
const FEW = 10_000;

/** The number for a query that reads all of them. */
const FEW_OF_ALL = 100_000;

const UPDATED_AT = 'updated_at';

/** Whether the order is that of the table with the times. */
export function isInOrderOfTimes({ updateTimes, order }: Matching): boolean {
  return updateTimes !== undefined && order.column === UPDATED_AT;
}

/** A query of columns of the records in their order. */
export function matchingInOrder(
  matching: Matching,
  columns: readonly string[],
  { condition = 'true', from = 'start', limit = '' }: Part = {},
): string {
  const { table, updateTimes, conditions, order } = matching;
  const names = columns.join(', ');
  const end = `and ${condition} ${orderBy(order, from)} ${limit}`;
  if (updateTimes && isInOrderOfTimes(matching)) {
    if (conditions.hasTimesOnly && columns.every((name) => name === 'id' || name === UPDATED_AT)) {
      return `select ${names} from ${updateTimes} where ${conditions.timesSql} ${end}`;
    }
    // PostgreSQL reads the times in order, or finds few records by another index and looks their times up.
    const times = `select organization_id, id, updated_at as changed_at from ${updateTimes} where ${conditions.timesSql}`;
    return `select ${names} from (${times}) times join ${table} using (organization_id, id)
      where ${conditions.sqlWithoutTimes} and ${condition}
      ${orderBy({ ...order, column: 'changed_at' }, from)} ${limit}`;
  }
  const queryOf = (gate = 'true') =>
    `select ${names} from ${table} where ${conditions.sql} and ${gate} ${end}`;
  const gates = gatesOf(matching, FEW);
  if (gates.length === 0) return queryOf();
  return gates.map((gate) => `(${queryOf(gate)})`).join(' union all ');
}

/** The FROM item of the records, in no order. It has the name of the table. Their conditions follow in WHERE. */
export function matchingTable(matching: Omit<Matching, 'order'>): string {
  const { table } = matching;
  const gates = gatesOf(matching, FEW_OF_ALL);
  if (gates.length === 0) return table;
  const queries = gates.map(
    (gate) => `select * from ${table} where organization_id = $1 and ${gate}`,
  );
  return `(${queries.join(' union all ')}) ${table}`;
}

/** SQL of the number of the records. */
export function matchingCount(matching: Omit<Matching, 'order'>): string {
  const { updateTimes, conditions } = matching;
  const { hasTimes, hasTimesOnly } = conditions;
  return updateTimes && hasTimes && hasTimesOnly
    ? `(select count(*)::int from ${updateTimes} where ${conditions.timesSql})`
    : `(select count(*)::int from ${matchingTable(matching)} where ${conditions.sql})`;
}

/**
 * Conditions of which one is true of all records. Those that have changed in a period are looked up by their ids if they are
 * few. Otherwise they are found by another index, and filtered. PostgreSQL does not run the query of the other condition.
 */
function gatesOf({ updateTimes, conditions }: Omit<Matching, 'order'>, few: number): string[] {
  if (!updateTimes || !conditions.hasTimes) return [];
  const changed = `select id from ${updateTimes} where ${conditions.timesSql}`;
  const areFew = `(select count(*) <= ${few} from (${changed} limit ${few + 1}) changed)`;
  return [`${areFew} and id = any(array(${changed} limit ${few}))`, `not ${areFew}`];
}
