import { Injectable } from '@nestjs/common';
import type { Call, InTransaction } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { Conditions } from '../../platform/data/lists/conditions.js';
import { ListedRepository } from '../../platform/data/lists/listed-repository.js';
import type { JsonRow } from '../../platform/data/records/record-statements.js';
import { type ResourceDto, ResourceListQuery } from './resource.dto.js';
import { Resource } from './resource.entity.js';

/** SQL of resources. */
@Injectable()
export class ResourcesRepository extends ListedRepository<Resource, ResourceListQuery> {
  constructor(database: TenantDatabase) {
    super(database, { entity: Resource, query: ResourceListQuery });
  }

  /**
   * Locks resources until the transaction ends, in the order of their ids, and reads them. Transactions of one instance wait
   * for each other in memory.
   * @returns those that exist
   * @throws ApiError `create_failed`
   */
  async lockMany(call: InTransaction, ids: readonly string[]): Promise<ResourceDto[]> {
    if (ids.length === 0) return [];
    call.transaction.takeTurn(this.keysOf(call, ids));
    const { lockMany: text } = this.statementsOf(call);
    const rows = await call.transaction.query<JsonRow>({ text, values: [call.tenant.id, ids] });
    return rows.map((row) => this.storedOf(call, row).value());
  }

  /** Whether transactions of this instance take time of one of the resources, or wait for it. */
  isBusy(call: Call, ids: readonly string[]): boolean {
    return this.database.isBusy(this.keysOf(call, ids));
  }

  /** Runs work after that of this instance which began earlier and takes time of one of the resources. */
  inTurn<T>(call: Call, ids: readonly string[], work: (call: Call) => Promise<T>): Promise<T> {
    return this.database.inTurn(call, this.keysOf(call, ids), work);
  }

  /**
   * Reads resources.
   * @returns those that exist
   * @throws ApiError `query_failed`
   */
  async findMany(call: Call, ids: readonly string[]): Promise<ResourceDto[]> {
    const { find: text } = this.statementsOf(call);
    const values = [call.tenant.id, JSON.stringify(ids)];
    const rows = await this.database.read<JsonRow>(call, { text, values });
    return rows.map((row) => this.storedOf(call, row).value());
  }

  protected conditionsOf(call: Call, query: ResourceListQuery) {
    return new Conditions(call, this.table.notDeleted)
      .equal('user_id', query.user_id, 'uuid')
      .add('active = ?', query.active)
      .updatedWithin(query);
  }
}
