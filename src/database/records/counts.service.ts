import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { repeatWhileDown } from '../connection/repeat-while-down.js';
import { assertCountTriggers } from './count-triggers.js';
import {
  type CountDrift,
  type CountedTable,
  findCountDrift,
  LOCK_REPAIRS,
  repairCounts,
} from './record-counts.js';
import type { Tenant } from '../gateway/tenant.js';
import { TenantDatabase } from '../gateway/tenant-database.js';
import { TenantTables } from './tenant-tables.service.js';

/** Checks and repairs the counts of every table that is declared as counted. */
@Injectable()
export class CountsService implements OnApplicationBootstrap {
  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly tenantTables: TenantTables,
    private readonly database: TenantDatabase,
  ) {}

  /** @throws Error that names the declared columns that the database does not count */
  async onApplicationBootstrap(): Promise<void> {
    await repeatWhileDown(() => assertCountTriggers(this.dataSource, this.tables));
  }

  /**
   * Compares the counts of an organization with its records.
   * @returns the counts that are wrong
   * @throws ApiError `query_failed`
   */
  check(tenant: Tenant): Promise<CountDrift[]> {
    return this.inEachTable((table) => {
      const statement = { text: findCountDrift(table), values: [tenant.id] };
      return this.database.read<CountDrift>(tenant, statement);
    });
  }

  /**
   * Corrects the counts of an organization. Requests are served meanwhile.
   * @returns the counts that were wrong
   * @throws ApiError `create_failed`
   */
  repair(tenant: Tenant): Promise<CountDrift[]> {
    const values = [tenant.id];
    return this.inEachTable((table) => {
      return this.database.transaction(tenant, async (transaction) => {
        await transaction.query({ text: LOCK_REPAIRS, values });
        return transaction.query<CountDrift>({ text: repairCounts(table), values });
      });
    });
  }

  private async inEachTable(
    find: (table: CountedTable) => Promise<CountDrift[]>,
  ): Promise<CountDrift[]> {
    const found: CountDrift[] = [];
    for (const table of this.tables) found.push(...(await find(table)));
    return found;
  }

  private get tables(): CountedTable[] {
    return this.tenantTables.all.flatMap(({ name, notDeleted, counted }) =>
      counted ? { name, notDeleted, counted } : [],
    );
  }
}
