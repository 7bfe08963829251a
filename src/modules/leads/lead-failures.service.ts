import { Injectable } from '@nestjs/common';
import type { Call } from '../../platform/data/call.js';
import { UniqueViolation } from '../../platform/data/connection/driver-error.js';
import { ApiError } from '../../platform/errors/api-error.js';
import { type CustomFields, LeadCustomFieldsService } from './lead-custom-fields.service.js';
import { mergedInto } from './lead-exists.js';
import { duplicateOf, fieldsIn, type UniqueValues } from './lead-values.js';
import { LeadsRepository } from './leads.repository.js';

/** Finds out why a lead was not found or not written, and which other lead is the reason. */
@Injectable()
export class LeadFailuresService {
  constructor(
    private readonly repository: LeadsRepository,
    private readonly customFields: LeadCustomFieldsService,
  ) {}

  /** @throws ApiError `not_found`, which names the lead that the missing one was merged into */
  async missing(call: Call, id: string): Promise<never> {
    const survivor = await this.findSurvivor(call, id);
    const details = survivor === undefined ? undefined : [mergedInto('id', survivor)];
    throw new ApiError('not_found', { message: 'There is no such lead.', details });
  }

  /**
   * The lead that a deleted one was merged into, if it exists and the key may read leads.
   * @param deletedToo whether that lead can be deleted as well
   */
  async findSurvivor(call: Call, id: string, deletedToo = false): Promise<string | undefined> {
    if (!call.actor.scopes.has('leads:read')) return undefined;
    call.replay?.needFor('merged_into', 'leads:read');
    return this.repository.findSurvivor(call, id, deletedToo);
  }

  /** The error for a restore of a lead that was merged into another one. */
  async merged(call: Call, id: string): Promise<ApiError> {
    const survivor = await this.findSurvivor(call, id, true);
    const details = survivor === undefined ? undefined : [mergedInto('id', survivor)];
    return new ApiError('merged', { details });
  }

  /**
   * Reports the failed write of a lead.
   * @param claim the values that no other lead may have
   * @throws ApiError `duplicate` for a unique violation, which names the fields, and the other lead if the key may read leads;
   *   any other error as it is
   */
  async notWritten(
    call: Call,
    claim: UniqueValues & { readonly id: string; readonly custom_fields?: CustomFields },
    error: unknown,
  ): Promise<never> {
    if (!(error instanceof UniqueViolation)) throw error;
    const holders = await this.repository.findHolders(call, [claim]);
    const ofFields = await this.customFields.holdersOf(call, claim.custom_fields);
    const others = [...holders, ...ofFields].filter(({ id }) => id !== claim.id.toLowerCase());
    throw duplicateOf(call, others.length > 0 ? others : fieldsIn(error));
  }
}
