import { deletesSoftly, type TenantTable } from './tenant-entity.js';

/** SQL of a column. The names of fields are lower-case identifiers, and few of them are reserved words. */
export function columnSql(name: string): string {
  return RESERVED.has(name) ? `"${name}"` : name;
}

/** Words that PostgreSQL does not take for a column unless they are quoted, and that name fields. */
const RESERVED: ReadonlySet<string> = new Set(['unique']);

/** SQL of a new `updated_at`, which is always later than the old one. */
export const NEXT_UPDATED_AT = `greatest(date_trunc('milliseconds', clock_timestamp()),
  updated_at + interval '1 millisecond')`;

/**
 * Ends a subquery that finds one record: PostgreSQL then runs it once for each id, with the primary key.
 * Otherwise it can read all records of the organization, if it estimates that there are few.
 */
export const ONE_BY_ONE = 'offset 0';

/**
 * The condition `deleted_at is null` for a record with a given id. No partial index contains it:
 * without statistics, PostgreSQL would prefer such an index to the primary key, and read all of it.
 */
export const NOT_DELETED_BY_ID = `coalesce(deleted_at, 'infinity') = 'infinity'`;

/** SQL condition of the deleted record with the id `$2` in the organization `$1`. No partial index contains it either. */
export const IS_DELETED_RECORD = `organization_id = $1 and id = $2 and not ${NOT_DELETED_BY_ID}`;

/**
 * SQL condition of the record with a given id in the organization `$1`.
 * @param id SQL of the id
 */
export function isRecordSql(table: TenantTable, id = '$2'): string {
  const notDeleted = deletesSoftly(table) ? NOT_DELETED_BY_ID : 'true';
  return `organization_id = $1 and id = ${id} and ${notDeleted}`;
}
