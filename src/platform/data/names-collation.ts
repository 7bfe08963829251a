import type { DataSource } from 'typeorm';
import { logger } from '../config/logger.js';

/**
 * The collation of lists that are sorted by names: the root collation of ICU. Only their `order by` clauses
 * and indexes use it. Equality, uniqueness and LIKE use the collation of the column.
 */
export const NAMES_COLLATION = 'latitude_names';

const FIND_COLLATION = `from pg_collation
  where collname = '${NAMES_COLLATION}' and collnamespace = current_schema()::regnamespace`;

/** SQL: whether this server orders names as the indexes do, which depends on its version of ICU. */
export const ORDERS_NAMES = `exists (select ${FIND_COLLATION}
  and collversion is not distinct from pg_collation_actual_version(oid))`;

/** An interrupted reindex leaves invalid indexes. */
const FIND_INDEXES = `
  select indexrelid::regclass::text as name, indisvalid as valid
  from pg_index join pg_class on pg_class.oid = indexrelid and relkind = 'i'
  where (select oid ${FIND_COLLATION}) = any(indcollation::oid[])`;

/**
 * Builds the indexes of names again if the server has another version of ICU than when they were built. Reads and
 * writes continue meanwhile.
 */
export async function reindexNames(dataSource: DataSource): Promise<void> {
  const [state] = await dataSource.query<{ current: boolean }[]>(
    `select ${ORDERS_NAMES} or not exists (select ${FIND_COLLATION}) as current`,
  );
  if (state?.current !== false) return;
  const indexes = await dataSource.query<{ name: string; valid: boolean }[]>(FIND_INDEXES);
  logger.info({ indexes: indexes.length }, 'the version of ICU has changed: reindexing names');
  for (const { name, valid } of indexes) {
    const command = valid ? 'reindex index' : 'drop index';
    await dataSource.query(`${command} concurrently ${name}`);
  }
  await dataSource.query(`alter collation ${NAMES_COLLATION} refresh version`);
}
