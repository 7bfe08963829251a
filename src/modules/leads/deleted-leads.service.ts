import { Injectable } from '@nestjs/common';
import type { Call, InTransaction } from '../../platform/data/call.js';
import type { DeletedQuery } from '../../platform/data/lists/deleted-records.js';
import type { CursorPage } from '../../platform/data/lists/page.js';
import { RecordPromise } from '../../platform/data/records/stored-record.js';
import { ApiError } from '../../platform/errors/api-error.js';
import type { DeletedLeadDto, LeadDto } from './lead.dto.js';
import { LeadFailuresService } from './lead-failures.service.js';
import { scorable } from './lead-scorer.js';
import { LeadsRepository } from './leads.repository.js';
import { LeadsService } from './leads.service.js';

/** Lists and restores deleted leads (docs/contract/resources.md#restore). */
@Injectable()
export class DeletedLeadsService {
  constructor(
    private readonly repository: LeadsRepository,
    private readonly leads: LeadsService,
    private readonly failures: LeadFailuresService,
  ) {}

  /**
   * A page of the list of deleted leads, without those that were merged.
   * @throws ApiError `query_failed`
   */
  list(call: Call, query: DeletedQuery): Promise<CursorPage<DeletedLeadDto>> {
    return this.repository.listDeleted(call, query);
  }

  /**
   * Restores a deleted lead. What is computed from its fields is computed again. A lead that is not deleted stays as it is.
   * @throws ApiError `not_found`, `merged`, `duplicate`, `definition_conflicts`, `precondition_failed`, `create_failed`
   */
  restore(call: Call, id: string): RecordPromise<LeadDto> {
    let stored: LeadDto | undefined;
    const revise = async (deleted: LeadDto, inner: InTransaction) => {
      stored = deleted;
      if (await this.repository.isMerged(inner, id)) {
        throw await this.failures.merged({ ...call, transaction: inner.transaction }, id);
      }
      return this.leads.computedOf(call, scorable(deleted));
    };
    const notWritten = (error: unknown) => {
      const values = this.leads.uniqueValuesOf(call, stored ?? {});
      const claim = { id, ...values, custom_fields: stored?.custom_fields };
      return this.failures.notWritten(call, claim, error);
    };
    return RecordPromise.of<LeadDto>(async () => {
      const { stored: written } = this.repository.restore(call, id, revise);
      const lead = await written.catch(notWritten).catch(asDefinitionConflict);
      return lead ?? this.failures.missing(call, id);
    });
  }
}

/**
 * The error for a stored lead whose values a definition refuses.
 * @throws ApiError `definition_conflicts`, or any other error as it is
 */
function asDefinitionConflict(error: unknown): never {
  if (!(error instanceof ApiError) || error.code !== 'validation_error') throw error;
  const message = 'The lead does not fit the definitions of custom fields.';
  throw new ApiError('definition_conflicts', { message, details: error.details, cause: error });
}
