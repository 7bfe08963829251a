import { Injectable } from '@nestjs/common';
import type { InTransaction, TenantCall } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { RecordErasure } from '../../platform/data/records/record-erasure.service.js';
import { orNotFound } from '../../platform/errors/or-not-found.js';
import { LeadPersonService } from '../leads/lead-person.service.js';
import { TasksService } from '../tasks/tasks.service.js';
import { type Erasure, ErasuresRepository } from './erasures.repository.js';

/** Erases what is stored about a person (docs/contract/personal-data.md#erasure). */
@Injectable()
export class ErasureService {
  constructor(
    private readonly database: TenantDatabase,
    private readonly person: LeadPersonService,
    private readonly tasks: TasksService,
    private readonly records: RecordErasure,
    private readonly erasures: ErasuresRepository,
  ) {}

  /**
   * Erases a lead and those that were merged with it. It can be repeated.
   * @returns the ids of these leads
   * @throws ApiError `not_found`, `create_failed`
   */
  erase(call: TenantCall, id: string): Promise<string[]> {
    return this.database.transaction(call, async (inner) => {
      await this.person.eraseImports(inner);
      const stored = await this.person.lock(inner, id);
      const ids = stored.length > 0 ? stored : await this.erasures.findErased(inner, id);
      orNotFound(ids.length > 0, 'lead');
      await this.eraseAll(inner, ids);
      return ids;
    });
  }

  /**
   * Erases a lead of a restored backup, which may not contain it.
   * @returns whether the backup contained it
   * @throws ApiError `create_failed`
   */
  eraseAgain(call: TenantCall, id: string): Promise<boolean> {
    return this.database.transaction(call, async (inner) => {
      await this.person.eraseImports(inner);
      const stored = await this.person.lock(inner, id);
      await this.eraseAll(inner, [...new Set([id, ...stored])]);
      return stored.length > 0;
    });
  }

  /**
   * The erased leads of an organization, in the order of their erasures.
   * @throws ApiError `query_failed`
   */
  list(call: TenantCall): Promise<Erasure[]> {
    return this.erasures.list(call);
  }

  private async eraseAll(call: InTransaction, ids: readonly string[]): Promise<void> {
    const changedIds = await this.tasks.eraseTexts(call, ids);
    await this.person.delete(call, ids);
    const erased = await this.records.erase(call, { table: 'leads', ids, changedIds });
    await this.erasures.add(call, ids, erased);
  }
}
