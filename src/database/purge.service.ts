import { Injectable } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import type { Tenant } from './tenant.js';
import { repositoriesOf } from './tenant-repositories.js';
import { PURGE_BATCH } from './tenant-repository.js';

/** Numbers of records by their table. */
export type Counts = Readonly<Record<string, number>>;

/**
 * Removes for good what organizations deleted, in every table that has a `TenantRepository`. Each
 * batch is a transaction of its own, so that requests are served meanwhile.
 */
@Injectable()
export class PurgeService {
  constructor(private readonly discovery: DiscoveryService) {}

  /** The tables that a purge looks through. */
  get tables(): string[] {
    return Array.from(repositoriesOf(this.discovery), ({ tableName }) => tableName);
  }

  /**
   * What a purge removes of an organization.
   * @param before when it was deleted at the latest
   * @throws ApiError `query_failed`
   */
  async count(tenant: Tenant, before: Date): Promise<Counts> {
    const counts: Record<string, number> = {};
    for (const repository of repositoriesOf(this.discovery)) {
      counts[repository.tableName] = await repository.countPurgeable(tenant, before);
    }
    return counts;
  }

  /**
   * Removes what was counted.
   * @param advance told of every batch how many records it removed
   * @throws ApiError `create_failed`
   */
  async purge(
    tenant: Tenant,
    before: Date,
    counts: Counts,
    advance: (records: number) => void,
  ): Promise<void> {
    for (const repository of repositoriesOf(this.discovery)) {
      let left = counts[repository.tableName] ?? 0;
      let removed: number;
      do {
        removed = await repository.purgeBatch(tenant, before);
        left -= removed;
        advance(removed);
      } while (removed === PURGE_BATCH);
      // The rest went by its foreign key, with the record that it belongs to.
      advance(left);
    }
  }
}
