import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Counts } from '../../platform/data/records/record-removal.service.js';
import { TenantDataService } from '../../platform/data/records/tenant-data.service.js';
import { ApiError } from '../../platform/errors/api-error.js';
import { orNotFound } from '../../platform/errors/or-not-found.js';
import { KeysRepository } from './keys.repository.js';
import { OrganizationsRepository } from './organizations.repository.js';

/** Time after which every server refuses a revoked key. */
const REVOCATION_MS = 1_000;

const MAX_ROUNDS = 100;
const ROUND_INTERVAL_MS = 200;

/** Removes organizations with their keys and records. */
@Injectable()
export class OrganizationRemovalService {
  constructor(
    private readonly repository: OrganizationsRepository,
    private readonly keys: KeysRepository,
    private readonly data: TenantDataService,
  ) {}

  /**
   * Counts what a removal would remove.
   * @returns the organization, the number of its keys, and the number of its rows in each table
   * @throws ApiError `not_found`, `query_failed`
   */
  async contents(id: string) {
    const call = { tenant: { id } };
    const { name } = orNotFound(await this.repository.find(call), 'organization');
    const keys = await this.keys.all(call);
    return { id, name, keys: keys.length, records: await this.data.count(call) };
  }

  /**
   * Revokes the keys of an organization, waits until every server refuses them, removes its records in batches, and removes
   * the organization. After an interruption it can be repeated.
   * @param onProgress receives the number of rows of each removed batch
   * @returns the numbers of removed rows by table
   * @throws ApiError `create_failed`
   */
  async remove(id: string, onProgress: (rows: number) => void = () => undefined): Promise<Counts> {
    const removed: Record<string, number> = {};
    for (let round = 1; round <= MAX_ROUNDS; round++) {
      if (await this.keys.revokeAll({ tenant: { id } })) await wait(REVOCATION_MS);
      const counts = await this.data.remove({ tenant: { id } }, onProgress);
      for (const [table, count] of Object.entries(counts)) {
        removed[table] = (removed[table] ?? 0) + count;
      }
      if (await this.repository.delete(id)) return removed;
      // Requests in progress may write records.
      await wait(ROUND_INTERVAL_MS);
    }
    const message = 'Requests still write records of the organization. Repeat the command.';
    throw new ApiError('create_failed', { message });
  }
}
