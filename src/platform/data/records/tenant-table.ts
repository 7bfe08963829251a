import type { Type } from '@nestjs/common';
import type { QueryRunner } from 'typeorm';
import { protectTenantTable } from '../tenant-role/tenant-role.js';
import { dropCounts, keepCounts } from './count-triggers.js';
import { deletesSoftly, tableOf, type TenantTable } from './tenant-entity.js';

/**
 * Creates the table of an entity in a migration: the given columns, `organization_id`, `id`, `created_at`,
 * `updated_at` and, for soft deletion, `deleted_at`; the primary key, the foreign keys, the indexes of
 * lists, references and purges, row-level security, and the triggers that count records.
 * @param columns SQL definitions of the other columns, such as `text text not null`
 */
export async function createTenantTable(
  runner: QueryRunner,
  entity: Type<object>,
  columns: readonly string[],
): Promise<void> {
  const table = tableOf(entity);
  await runner.query(createTable(table, columns));
  const nullable = (await runner.query(FIND_NULLABLE, [table.name])) as { name: string }[];
  const statements = [
    ...createIndexes(table),
    ...nullable.flatMap(({ name }) =>
      table.sorts.includes(name) ? nullsLastIndex(table, name) : [],
    ),
    ...protectTenantTable(table.name),
    ...(table.counted ? keepCounts({ ...table, counted: table.counted }) : []),
  ];
  for (const statement of statements) await runner.query(statement);
}

const FIND_NULLABLE = `
  select attname::text as name from pg_attribute
  where attrelid = $1::regclass and attnum > 0 and not attisdropped and not attnotnull`;

/** Drops a table that `createTenantTable` created, in the `down` of a migration. */
export async function dropTenantTable(runner: QueryRunner, entity: Type<object>): Promise<void> {
  const table = tableOf(entity);
  await runner.query(`drop table ${table.name}`);
  if (!table.counted) return;
  for (const statement of dropCounts({ ...table, counted: table.counted })) {
    await runner.query(statement);
  }
  await runner.query('delete from record_counts where resource = $1', [table.name]);
}

function createTable(table: TenantTable, columns: readonly string[]): string {
  const { name, references } = table;
  const now = `timestamptz(3) not null default date_trunc('milliseconds', now())`;
  const parts = [
    'organization_id uuid not null references organizations (id)',
    'id uuid not null',
    ...columns,
    `created_at ${now}`,
    `updated_at ${now}`,
    ...(deletesSoftly(table) ? ['deleted_at timestamptz(3)'] : []),
    'primary key (organization_id, id)',
    ...Object.entries(references).map(([column, { entity: target, onDelete }]) => {
      const action = onDelete === 'cascade' ? 'cascade' : `set null (${column})`;
      return `foreign key (organization_id, ${column}) references ${tableOf(target()).name} (organization_id, id)
        on delete ${action}`;
    }),
  ];
  return `create table ${name} (${parts.join(', ')})`;
}

function createIndexes(table: TenantTable): string[] {
  const { name, order, sorts, counted = [], references, about, notDeleted } = table;
  const index = (by: string, columns: string, condition: string) =>
    `create index ${name}_by_${by} on ${name} (organization_id, ${columns}) where ${condition}`;
  const lists = [...new Set([...sorts, 'created_at'])].map((column) => sortIndex(table, column));
  const filters = counted.map((column) => index(column, `${column}, ${order}, id`, notDeleted));
  // A purge of the referenced record also reads deleted records.
  const referring = Object.keys(references)
    .filter((column) => !counted.includes(column))
    .map((column) => index(column, `${column}, ${order}, id`, 'true'));
  const purged = deletesSoftly(table)
    ? [index('deleted_at', 'deleted_at', 'deleted_at is not null')]
    : [];
  const purgedWith = about === undefined ? [] : [index(about, about, 'true')];
  return [...lists, ...filters, ...referring, ...purged, ...purgedWith];
}

/** The statement that creates the index of a sort. */
export function sortIndex({ name, notDeleted }: TenantTable, column: string): string {
  return `create index ${name}_by_${column} on ${name} (organization_id, ${column}, id) where ${notDeleted}`;
}

/** The statement that creates the index of a descending sort of a nullable column, with nulls last. */
export function nullsLastIndex({ name, notDeleted }: TenantTable, column: string): string {
  return `create index ${name}_by_${column}_desc on ${name}
    (organization_id, ${column} desc nulls last, id desc) where ${notDeleted}`;
}
