import { Injectable } from '@nestjs/common';
import { IS_VALID_KEY } from '../../platform/access/access.repository.js';
import type { TenantCall } from '../../platform/data/call.js';
import { SharedLookups } from '../../platform/data/gateway/shared-lookups.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { recordCount } from '../../platform/data/records/record-counts.js';

/** SQL of the numbers of records and keys of an organization. */
@Injectable()
export class RecordTotals {
  constructor(
    private readonly database: TenantDatabase,
    private readonly lookups: SharedLookups,
  ) {}

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

  /**
   * The number of keys that are neither revoked nor expired.
   * @throws ApiError `query_failed`
   */
  async ofKeys({ tenant: { id } }: TenantCall): Promise<number> {
    const text = `select count(*)::int as count from api_keys key where organization_id = $1 and ${IS_VALID_KEY}`;
    const [row] = await this.lookups.find<{ count: number }>('valid-keys', text, [id]);
    return row?.count ?? 0;
  }
}
