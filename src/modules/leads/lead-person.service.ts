import { Injectable } from '@nestjs/common';
import type { InTransaction, TenantCall } from '../../platform/data/call.js';
import { orNotFound } from '../../platform/errors/or-not-found.js';
import type { PersonalLeadDto } from './lead-person.dto.js';
import { LeadsRepository } from './leads.repository.js';
import { ImportErasureRepository } from './transfer/import-erasure.repository.js';

/**
 * The leads of one person: those that were merged into each other, deleted ones too (docs/contract/personal-data.md#the-person).
 */
@Injectable()
export class LeadPersonService {
  constructor(
    private readonly repository: LeadsRepository,
    private readonly imports: ImportErasureRepository,
  ) {}

  /** @throws ApiError `not_found`, `query_failed` */
  async read(call: TenantCall, id: string): Promise<PersonalLeadDto[]> {
    const ids = await this.repository.findPerson(call, id);
    orNotFound(ids.length > 0, 'lead');
    return this.repository.readPerson(call, ids);
  }

  /**
   * Empties the rejected lines of imports, which can be too many for one transaction. Those that come later are emptied by
   * `lockToErase`.
   * @throws ApiError `create_failed`
   */
  emptyRejectedLines(call: TenantCall): Promise<void> {
    return this.imports.emptyRejected(call);
  }

  /** @returns the ids of the leads, in their order; none if the lead is not stored. @throws ApiError `query_failed` */
  idsOf(call: TenantCall, id: string): Promise<string[]> {
    return this.repository.findPerson(call, id);
  }

  /**
   * Prepares the erasure of a person: empties what imports keep of persons, and locks the leads of this one until the
   * transaction ends, also against merges. Imports are locked first, as by the portions of an import.
   * @returns the ids of the leads; none if the lead is not stored
   * @throws ApiError `create_failed`
   */
  async lockToErase(call: InTransaction, id: string): Promise<string[]> {
    await this.imports.erase(call, 'The data of a person was erased.');
    let locked: string[] = [];
    // A merge that ends while this waits for its locks adds leads to the person. They are locked by another round.
    for (;;) {
      const ids = await this.repository.findPerson(call, id);
      if (ids.every((each) => locked.includes(each))) return ids;
      await this.repository.lockAll(call, ids);
      locked = ids;
    }
  }

  /**
   * Deletes those of the leads that exist, and removes them from the results of imports.
   * @throws ApiError `create_failed`
   */
  async delete(call: InTransaction, ids: readonly string[]): Promise<void> {
    await this.imports.forgetLeads(call, ids);
    for (const id of ids) await this.repository.delete(call, id);
  }
}
