import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Counts } from '../database/records/purge.service.js';
import { TenantDataService } from '../database/records/tenant-data.service.js';
import { ApiError } from '../errors/api-error.js';
import { AuthRepository } from './auth.repository.js';

/** An organization with all that it has. */
export interface OrganizationContents {
  readonly id: string;
  readonly name: string;
  readonly keys: number;
  /** Rows by their table. */
  readonly records: Counts;
}

/** Every server refuses a key by then after its revocation. */
const REVOCATION_MS = 1_000;

const MAX_ROUNDS = 100;
const ROUND_INTERVAL_MS = 200;

/** Removes organizations with everything that they have. */
@Injectable()
export class OrganizationRemovalService {
  constructor(
    private readonly repository: AuthRepository,
    private readonly data: TenantDataService,
  ) {}

  /**
   * What a removal would remove.
   * @throws ApiError `not_found`, `query_failed`
   */
  async contents(id: string): Promise<OrganizationContents> {
    const organization = await this.repository.findOrganization(id);
    if (!organization) {
      throw new ApiError('not_found', { message: 'There is no such organization.' });
    }
    const keys = await this.repository.listKeys(id);
    const records = await this.data.count({ id });
    return { id, name: organization.name, keys: keys.length, records };
  }

  /**
   * Ends the keys of an organization, then removes its data in batches, then its keys and itself. No
   * server accepts one of its keys by then. It can be repeated after it was broken off at any step.
   * @param advance told of every batch how many rows it removed
   * @returns the rows that were removed, by their table
   * @throws ApiError `create_failed`
   */
  async remove(id: string, advance: (rows: number) => void = () => undefined): Promise<Counts> {
    const removed: Record<string, number> = {};
    let acceptedUntil = -Infinity;
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      if (await this.repository.revokeAll(id)) acceptedUntil = performance.now() + REVOCATION_MS;
      const counts = await this.data.remove({ id }, advance);
      for (const [table, count] of Object.entries(counts)) {
        removed[table] = (removed[table] ?? 0) + count;
      }
      const isRefused = performance.now() >= acceptedUntil;
      if (isRefused && (await this.repository.deleteOrganization(id))) return removed;
      // Until then, and by requests that are under way, records may still be written.
      await wait(Math.max(ROUND_INTERVAL_MS, acceptedUntil - performance.now()));
    }
    const message = 'Records of the organization are still written: repeat the command.';
    throw new ApiError('create_failed', { message });
  }
}
