import { Injectable } from '@nestjs/common';
import {
  type CountDrift,
  type CountedTable,
  findCountDrift,
  LOCK_REPAIRS,
  repairCounts,
} from './record-counts.js';
import type { TenantCall } from '../call.js';
import { TenantDatabase } from '../gateway/tenant-database.js';
import { TenantTables } from './tenant-tables.service.js';

/** Checks and repairs the counts of every table that is declared as counted. */
@Injectable()
export class CountsService {
  constructor(
    private readonly tenantTables: TenantTables,
    private readonly database: TenantDatabase,
  ) {}

  /**
   * Compares the counts of an organization with its records.
   * @returns the counts that are wrong
   * @throws ApiError `query_failed`
   */
  check(call: TenantCall): Promise<CountDrift[]> {
    const values = [call.tenant.id];
    return this.inEachTable((table) =>
      this.database.read<CountDrift>(call, { text: findCountDrift(table), values }),
    );
  }

  /**
   * Corrects the counts of an organization. Requests are served meanwhile.
   * @returns the counts that were wrong
   * @throws ApiError `create_failed`
   */
  repair(call: TenantCall): Promise<CountDrift[]> {
    const values = [call.tenant.id];
    return this.inEachTable((table) =>
      this.database.transaction(call, async ({ transaction }) => {
        await transaction.query({ text: LOCK_REPAIRS, values });
        return transaction.query<CountDrift>({ text: repairCounts(table), values });
      }),
    );
  }

  private async inEachTable(
    find: (table: CountedTable) => Promise<CountDrift[]>,
  ): Promise<CountDrift[]> {
    const found: CountDrift[] = [];
    for (const table of this.tenantTables.counted) found.push(...(await find(table)));
    return found;
  }
}
