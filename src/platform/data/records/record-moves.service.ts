import { Injectable } from '@nestjs/common';
import type { InTransaction } from '../call.js';
import { TenantDatabase } from '../gateway/tenant-database.js';
import { referencesTo, type TableReference } from './table-references.js';
import { TenantTables } from './tenant-tables.service.js';

/** Moves the records that refer to a record to another one. */
@Injectable()
export class RecordMoves {
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
    const tables = this.tenantTables.all.map(({ name }) => name);
    const references = await referencesTo(this.database, call, tables);
    for (const reference of references) {
      if (reference.target !== table || !tables.includes(reference.table)) continue;
      await this.moveOf(call, reference, from, to);
    }
  }

  private async moveOf(
    call: InTransaction,
    { table, column }: TableReference,
    from: string,
    to: string,
  ): Promise<void> {
    const repository = this.tenantTables.repositories.find(({ table: { name } }) => name === table);
    await repository?.setReference(call, column, [from], to);
    await call.transaction.query({
      text: `update ${table} set ${column} = $3 where organization_id = $1 and ${column} = $2`,
      values: [call.tenant.id, from, to],
    });
  }
}
