import type { QueryRunner } from 'typeorm';
import { protectTenantTable } from '../tenant-role/tenant-role.js';
import { dropCounts, keepCounts } from './count-triggers.js';
import type { CountedTable } from './record-counts.js';

/** A column with the id of a record of another table of organizations. */
export interface RecordReference {
  readonly table: string;
  /** What happens to this record when a purge removes the referenced one. */
  readonly onDelete: 'cascade' | 'set null';
}

export interface TenantTableOptions {
  /** Whether deleted records stay, with a `deleted_at`, until a purge. Default: true. */
  readonly softDelete?: boolean;
  /**
   * Columns by whose values triggers count records, in addition to the total. Lists that filter by one of them
   * have an exact total without a scan. Without this option, nothing is counted.
   */
  readonly counted?: readonly string[];
  /** Columns with ids of records, such as `lead_id`. */
  readonly references?: Readonly<Record<string, RecordReference>>;
  /** A column with the id of a record of any table. A purge of that record removes this one as well. */
  readonly about?: string;
  /** The column of the default order of lists. Default: `created_at`. */
  readonly order?: string;
  /** Other columns by which lists can be ordered. Each needs an index. */
  readonly sorts?: readonly string[];
  /** The events that changes of records write. Without this option, they write none. */
  readonly events?: TableEvents;
}

/** The events of a table's records: `created`, `updated`, `deleted` and others. */
export interface TableEvents {
  /** What the types begin with: `task` for `task.created`. */
  readonly name: string;
  /**
   * Types in place of `updated`, by the values that an update gives to fields: with
   * `{ completed: { status: 'completed' } }`, the update that completes a task writes `task.completed`.
   */
  readonly transitions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  /** The scope of keys that read the events. Default: that of the table's name, such as `tasks:read`. */
  readonly scope?: string;
}

/**
 * A table of records that belong to organizations. It is declared once: repositories, lists, purges and events
 * read this declaration.
 */
export interface TenantTable {
  readonly name: string;
  /** SQL condition of records that are not deleted. */
  readonly notDeleted: CountedTable['notDeleted'];
  readonly counted?: CountedTable['counted'];
  readonly references: Readonly<Record<string, RecordReference>>;
  readonly about?: string;
  readonly order: string;
  /** All columns by which lists are ordered. */
  readonly sorts: readonly string[];
  readonly events?: TableEvents;
}

const IDENTIFIER = /^[a-z][a-z0-9_]{0,39}$/;

/**
 * Declares a table of records that belong to organizations. The names are SQL and must never come from
 * a caller.
 * @throws Error if a name is not a lower-case SQL identifier of at most 40 characters
 */
export function tenantTable(
  name: string,
  {
    softDelete = true,
    counted,
    references = {},
    about,
    order = 'created_at',
    sorts = [],
    events,
  }: TenantTableOptions = {},
): TenantTable {
  const types = events ? [events.name, ...Object.keys(events.transitions ?? {})] : [];
  const others = about === undefined ? types : [...types, about];
  const columns = [...(counted ?? []), ...Object.keys(references), order, ...sorts, ...others];
  const invalid = [name, ...columns].find((identifier) => !IDENTIFIER.test(identifier));
  if (invalid !== undefined) {
    throw new Error(
      `tenantTable('${name}'): ${invalid} is not a valid name: use at most 40 lower-case letters, digits and underscores, beginning with a letter`,
    );
  }
  const notDeleted = softDelete ? 'deleted_at is null' : 'true';
  const allSorts = [...new Set([order, ...sorts])];
  return { name, notDeleted, counted, references, about, order, sorts: allSorts, events };
}

/** Whether deleted records stay in the table until a purge removes them. */
export function deletesSoftly({ notDeleted }: Pick<TenantTable, 'notDeleted'>): boolean {
  return notDeleted !== 'true';
}

/**
 * Creates a table in a migration: the given columns, `organization_id`, `id`, `created_at`,
 * `updated_at` and, for soft deletion, `deleted_at`; the primary key, the foreign keys, the indexes of
 * lists, references and purges, row-level security, and the triggers that count records.
 * @param columns SQL definitions of the other columns, such as `text text not null`
 */
export async function createTenantTable(
  runner: QueryRunner,
  table: TenantTable,
  columns: readonly string[],
): Promise<void> {
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
export async function dropTenantTable(runner: QueryRunner, table: TenantTable): Promise<void> {
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
    ...Object.entries(references).map(([column, { table: target, onDelete }]) => {
      const action = onDelete === 'cascade' ? 'cascade' : `set null (${column})`;
      return `foreign key (organization_id, ${column}) references ${target} (organization_id, id)
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
