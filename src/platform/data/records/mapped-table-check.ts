import type { DataSource, EntityMetadata } from 'typeorm';

const FIND_TABLES = `
  select path, array(select attname::text from pg_attribute
    where attrelid = c.oid and not attisdropped) as columns
  from unnest($1::text[]) as path cross join pg_class c
    join pg_namespace on pg_namespace.oid = relnamespace
  where relkind in ('r', 'p', 'v', 'm', 'f')
    and (path = relname and pg_table_is_visible(c.oid) or path = concat(nspname, '.', relname))`;

/**
 * Compares entities with the tables and views of the database.
 * @throws Error whose message has one line for each entity whose table or columns do not exist
 */
export async function assertMappedTables(
  dataSource: DataSource,
  entities: readonly EntityMetadata[],
): Promise<void> {
  if (entities.length === 0) return;
  const paths = entities.map(({ tablePath }) => tablePath);
  const found = await dataSource.query<{ path: string; columns: string[] }[]>(FIND_TABLES, [paths]);
  const columnsOf = new Map(found.map(({ path, columns }) => [path, columns]));
  const faults = entities.flatMap((entity) => faultsOf(entity, columnsOf.get(entity.tablePath)));
  if (faults.length > 0) throw new Error(faults.join('\n'));
}

/** @param actual the columns of the table; undefined if it does not exist */
function faultsOf(entity: EntityMetadata, actual: readonly string[] | undefined): string[] {
  const { name, tablePath } = entity;
  if (!actual) {
    return [
      `The entity ${name} maps the table ${tablePath}, which does not exist. Add a migration that creates it.`,
    ];
  }
  const missing = entity.columns
    // A @VirtualColumn() has a query in place of a column.
    .filter(({ isVirtualProperty }) => !isVirtualProperty)
    .map(({ databaseName }) => databaseName)
    .filter((column) => !actual.includes(column));
  if (missing.length === 0) return [];
  return [
    `The entity ${name} maps the columns ${missing.join(', ')}, which the table ${tablePath} lacks. Add a migration that creates them.`,
  ];
}
