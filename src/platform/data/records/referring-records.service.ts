import { Injectable } from '@nestjs/common';
import type { InTransaction, TenantCall } from '../call.js';
import { TenantDatabase } from '../gateway/tenant-database.js';
import { NEXT_UPDATED_AT } from './record-sql.js';
import { TenantTables } from './tenant-tables.service.js';

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

/** Records by the names of their tables. */
type RecordsByTable = Readonly<Record<string, readonly { readonly id: string }[]>>;

/** Reads and moves the records of all tables that refer to a record. */
@Injectable()
export class ReferringRecords {
  constructor(
    private readonly tenantTables: TenantTables,
    private readonly database: TenantDatabase,
  ) {}

  /**
   * Changes the references of all tables from one record to another. Each record that is not deleted gets an event and
   * a new `updated_at`. Deleted records move as well, so that a purge of the one record does not separate them from
   * the other.
   * @param table of both records
   * @returns the number of records of each table, without those that are deleted
   * @throws ApiError `create_failed`
   * @throws UniqueViolation if a table allows one record for each
   */
  async move(call: InTransaction, table: string, from: string, to: string) {
    const moved: Record<string, number> = {};
    for (const reference of await this.ownReferences(call, table)) {
      const { existing } = await this.change(call, reference, [from], to);
      moved[reference.table] = (moved[reference.table] ?? 0) + existing.length;
    }
    return moved;
  }

  /**
   * Changes a reference in the records that refer to one of the given ids. Those that are not deleted get an event.
   * @returns the ids of the changed records
   * @throws ApiError `create_failed`
   * @throws UniqueViolation
   */
  async set(
    call: InTransaction,
    reference: TableReference,
    ids: readonly string[],
    to: string | null,
  ): Promise<string[]> {
    const { existing, deleted } = await this.change(call, reference, ids, to);
    return [...existing, ...deleted];
  }

  private async change(
    call: InTransaction,
    { table, column, hasUpdatedAt }: TableReference,
    ids: readonly string[],
    to: string | null,
  ): Promise<{ existing: string[]; deleted: string[] }> {
    const repository = this.tenantTables.repositoryOf(table);
    const changed = await repository?.setReference(call, column, ids, to);
    const setUpdatedAt = hasUpdatedAt ? `, updated_at = ${NEXT_UPDATED_AT}` : '';
    const others = await call.transaction.query<{ id: string }>({
      text: `update ${table} set ${column} = $3${setUpdatedAt}
        where organization_id = $1 and ${column} = any($2) returning id`,
      values: [call.tenant.id, ids, to],
    });
    const rest = others.map(({ id }) => id);
    // Only tables with a repository can have deleted records.
    return changed ? { existing: changed, deleted: rest } : { existing: rest, deleted: [] };
  }

  /**
   * The records that refer to records of a table, deleted ones too.
   * @throws ApiError `query_failed`
   */
  async find(call: TenantCall, table: string, ids: readonly string[]): Promise<RecordsByTable> {
    const found: Record<string, { id: string }[]> = {};
    for (const { table: name, column } of await this.ownReferences(call, table)) {
      const records =
        (await this.tenantTables.repositoryOf(name)?.findReferring(call, column, ids)) ?? [];
      found[name] = [...(found[name] ?? []), ...records];
    }
    return found;
  }

  /**
   * The rows about records, such as deliveries, of tables with the option `about`.
   * @throws ApiError `query_failed`
   */
  async findAbout(call: TenantCall, ids: readonly string[]): Promise<RecordsByTable> {
    const found: Record<string, { id: string }[]> = {};
    for (const repository of this.tenantTables.repositories) {
      const { name, about } = repository.table;
      if (about !== undefined) found[name] = await repository.findReferring(call, about, ids);
    }
    return found;
  }

  /**
   * Reads the foreign keys that reference the `id` of records from the system catalog.
   * @throws ApiError `query_failed`
   */
  references(call: TenantCall): Promise<TableReference[]> {
    const tables = this.tenantTables.all.map(({ name }) => name);
    return this.database.read<TableReference>(call, { text: FOREIGN_KEYS, values: [tables] });
  }

  /** The references of tables with records of organizations. */
  private async ownReferences(call: TenantCall, target: string): Promise<TableReference[]> {
    const references = await this.references(call);
    return references.filter((one) => one.target === target && this.tenantTables.has(one.table));
  }
}
