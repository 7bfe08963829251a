import { Injectable } from '@nestjs/common';
import type { TenantCall } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { recordCount } from '../../platform/data/records/record-counts.js';

/** SQL of the numbers of records of an organization. */
@Injectable()
export class RecordTotals {
  constructor(private readonly database: TenantDatabase) {}

  /**
   * The numbers of records that are not deleted.
   * @param tables the names of tables whose records triggers count. They are SQL and must never come from a caller.
   * @throws ApiError `query_failed`
   */
  async ofTables(
    call: TenantCall,
    tables: readonly string[],
  ): Promise<Readonly<Record<string, number>>> {
    if (tables.length === 0) return {};
    const text = `select ${tables.map((table) => `${recordCount(table)} as ${table}`).join(', ')}`;
    const rows = await this.database.read<Record<string, number>>(call, {
      text,
      values: [call.tenant.id],
    });
    return rows[0] ?? {};
  }
}
