import type { TenantCall } from '../call.js';
import type { TenantDatabase } from '../gateway/tenant-database.js';

/** A foreign key column that references the `id` of another table. */
export interface TableReference {
  readonly table: string;
  readonly column: string;
  /** The referenced table. */
  readonly target: string;
  /** The `on delete` action of the foreign key. */
  readonly onDelete: 'cascade' | 'set null' | 'restrict';
  /** Whether the table has `updated_at`. */
  readonly hasUpdatedAt: boolean;
}

const FOREIGN_KEYS = `
  select child.relname as "table", field.attname as "column", parent.relname as target,
    case key.confdeltype when 'c' then 'cascade' when 'n' then 'set null' else 'restrict' end
      as "onDelete",
    exists (select from pg_attribute updated where updated.attrelid = child.oid
      and updated.attname = 'updated_at' and not updated.attisdropped) as "hasUpdatedAt"
  from pg_constraint key
    join pg_class child on child.oid = key.conrelid
    join pg_class parent on parent.oid = key.confrelid
    cross join lateral unnest(key.conkey, key.confkey) as pair (field, target_field)
    join pg_attribute field on field.attrelid = child.oid and field.attnum = pair.field
    join pg_attribute target_field on target_field.attrelid = parent.oid
      and target_field.attnum = pair.target_field
  where key.contype = 'f' and key.conparentid = 0 and target_field.attname = 'id'
    and parent.oid = any($1::text[]::regclass[])
  order by 1, 2`;

/**
 * Reads the foreign keys that reference the `id` of these tables from the system catalog.
 * @throws ApiError `query_failed`
 */
export function referencesTo(
  database: TenantDatabase,
  call: TenantCall,
  tables: readonly string[],
): Promise<TableReference[]> {
  return database.read<TableReference>(call, { text: FOREIGN_KEYS, values: [tables] });
}
