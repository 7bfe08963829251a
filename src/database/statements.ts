import type { Statement } from './tenant-database.js';

/** Moves forward with every change, also within one millisecond of the last (decisions 3). */
const NEXT_UPDATED_AT = `greatest(date_trunc('milliseconds', clock_timestamp()),
  updated_at + interval '1 millisecond')`;

/** The one live record of an organization. */
const THE_RECORD = 'organization_id = $1 and id = $2 and deleted_at is null';

/** Columns and values of a row; the names come from code, never from a caller. */
export type Row = Readonly<Record<string, unknown>>;

export function selectOne(
  table: string,
  columns: readonly string[],
  [organizationId, id]: readonly [string, string],
  lock: 'for update' | '' = '',
): Statement {
  return {
    text: `select ${columns.join(', ')} from ${table} where ${THE_RECORD} ${lock}`,
    values: [organizationId, id],
  };
}

export function insertOne(table: string, row: Row, returning: readonly string[]): Statement {
  const names = Object.keys(row);
  const parameters = names.map((_, index) => `$${index + 1}`);
  return {
    text: `insert into ${table} (${names.join(', ')}) values (${parameters.join(', ')})
      returning ${returning.join(', ')}`,
    values: Object.values(row),
  };
}

export function updateOne(
  table: string,
  changes: Row,
  [organizationId, id]: readonly [string, string],
  returning: readonly string[],
): Statement {
  const assignments = Object.keys(changes).map((name, index) => `${name} = $${index + 3}`);
  return {
    text: `update ${table} set ${assignments.join(', ')}, updated_at = ${NEXT_UPDATED_AT}
      where ${THE_RECORD} returning ${returning.join(', ')}`,
    values: [organizationId, id, ...Object.values(changes)],
  };
}

/** Soft deletion: from then on the record is found no more. */
export function deleteOne(
  table: string,
  [organizationId, id]: readonly [string, string],
): Statement {
  return {
    text: `update ${table} set deleted_at = now() where ${THE_RECORD} returning id`,
    values: [organizationId, id],
  };
}
