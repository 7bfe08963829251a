import { Injectable } from '@nestjs/common';
import type { InTransaction, TenantCall } from '../call.js';
import { TenantDatabase } from '../gateway/tenant-database.js';
import { referencesTo, type TableReference } from './table-references.js';
import type { TenantRepository } from './tenant-repository.js';
import { TenantTables } from './tenant-tables.service.js';

/** Records by the names of their tables. */
export type RecordsByTable = Readonly<Record<string, readonly { readonly id: string }[]>>;

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
   * @throws ApiError `create_failed`
   * @throws UniqueViolation if a table allows one record for each
   */
  async move(call: InTransaction, table: string, from: string, to: string): Promise<void> {
    for (const { table: name, column } of await this.referencesTo(call, table)) {
      await this.repositoryOf(name)?.setReference(call, column, [from], to);
      await call.transaction.query({
        text: `update ${name} set ${column} = $3 where organization_id = $1 and ${column} = $2`,
        values: [call.tenant.id, from, to],
      });
    }
  }

  /**
   * The records that refer to records of a table, deleted ones too.
   * @throws ApiError `query_failed`
   */
  async find(call: TenantCall, table: string, ids: readonly string[]): Promise<RecordsByTable> {
    const found: Record<string, { id: string }[]> = {};
    for (const { table: name, column } of await this.referencesTo(call, table)) {
      const records = (await this.repositoryOf(name)?.findReferring(call, column, ids)) ?? [];
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

  private async referencesTo(call: TenantCall, target: string): Promise<TableReference[]> {
    const tables = this.tenantTables.all.map(({ name }) => name);
    const references = await referencesTo(this.database, call, tables);
    return references.filter((one) => one.target === target && tables.includes(one.table));
  }

  private repositoryOf(name: string): TenantRepository<{ id: string }> | undefined {
    return this.tenantTables.repositories.find(({ table }) => table.name === name);
  }
}
