import type { Type } from '@nestjs/common';
import type { ObjectLiteral, SelectQueryBuilder } from 'typeorm';

/** A row, whose columns have the names that a query builder gives them: the alias and the column. */
export type EntityRow = Readonly<Record<string, unknown>>;

/**
 * Converts the rows of a query builder to entities.
 * @throws Error if the query selects other values than columns of the entity
 */
export function entitiesOf<E extends ObjectLiteral>(
  { dataSource, alias }: SelectQueryBuilder<E>,
  entity: Type<E>,
  rows: readonly EntityRow[],
): E[] {
  const metadata = dataSource.getMetadata(entity);
  const columns = metadata.columns.map(
    (column) => [`${alias}_${column.databaseName}`, column] as const,
  );
  const names = new Set<string>(columns.map(([name]) => name));
  const other = Object.keys(rows[0] ?? {}).find((name) => !names.has(name));
  if (other !== undefined) {
    throw new Error(
      `The query selects ${other}, which is no column of ${entity.name}. Select other values by SQL, with TenantDatabase.read().`,
    );
  }
  // TypeORM selects primary columns always.
  const shown = columns.filter(([, { isPrimary, isSelect }]) => isSelect || !isPrimary);
  return rows.map((row) => {
    const record = metadata.create() as E;
    for (const [name, column] of shown) {
      if (!(name in row)) continue;
      column.setEntityValue(record, dataSource.driver.prepareHydratedValue(row[name], column));
    }
    return record;
  });
}
