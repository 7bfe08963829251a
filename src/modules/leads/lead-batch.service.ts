import { Injectable } from '@nestjs/common';
import { insufficientScope } from '../../platform/access/scopes.js';
import type { BatchDto, BatchOutcome } from '../../platform/data/batches/batch.dto.js';
import { itemDtosOf } from '../../platform/data/batches/batch-item.js';
import { BatchRunner } from '../../platform/data/batches/batch-runner.js';
import { type BatchTarget, withUpdate } from '../../platform/data/batches/batch-target.js';
import type { Call } from '../../platform/data/call.js';
import { ApiError } from '../../platform/errors/api-error.js';
import { CreateLeadDto, UpdateLeadDto } from './lead.dto.js';
import { UpsertLeadDto } from './lead-upsert.dto.js';
import { creationOf, LeadUpsertService, type UpsertOptions } from './lead-upsert.service.js';
import { LeadsService } from './leads.service.js';
import { type Holder, UNIQUE_COLUMNS } from './lead-values.js';

const ITEMS = { ...itemDtosOf(CreateLeadDto, UpdateLeadDto), upsert: UpsertLeadDto };

/** Creates, updates, upserts and deletes several leads (docs/contract/batches.md). */
@Injectable()
export class LeadBatchService {
  constructor(
    private readonly batches: BatchRunner,
    private readonly leads: LeadsService,
    private readonly upserts: LeadUpsertService,
  ) {}

  /** @throws ApiError of the first item that fails, if the batch is atomic; `create_failed` */
  run(call: Call, batch: BatchDto): Promise<BatchOutcome> {
    return this.batches.run(call, batch, this.targetOf());
  }

  /**
   * Carries out items with the results that single requests in their order would have: an item finds the lead of an earlier
   * one that has the same value. Updates by id keep what upserts keep.
   * @throws ApiError `create_failed`
   */
  runInTurn(call: Call, items: readonly object[], options: UpsertOptions): Promise<BatchOutcome> {
    const { leads, upserts } = this;
    const service = withUpdate<CreateLeadDto, UpdateLeadDto>(leads, (inner, id, input) =>
      upserts.update(inner, id, input, options),
    );
    const target = { ...this.targetOf(options), service, allowsRepeats: true };
    return this.batches.run(call, { atomic: false, items }, target);
  }

  /**
   * Passes the items of a batch on to the services of leads. The casts hold because the runner has read the items into the
   * DTOs of `ITEMS`, and passes on the matches that `findMatches` returned.
   */
  targetOf(options?: UpsertOptions): BatchTarget<CreateLeadDto, UpdateLeadDto> {
    const { leads, upserts } = this;
    return {
      items: ITEMS,
      service: leads,
      remove: (call, id) => leads.delete(call, id),
      removedStatus: 'deleted',
      refusalOf: ({ actor, replay }, action) => {
        if (action !== 'upsert') return undefined;
        if (!actor.scopes.has('leads:read')) return insufficientScope('leads:read');
        replay?.need(['leads:read']);
        return undefined;
      },
      uniqueValuesOf: (call, data) => {
        const values = leads.uniqueValuesOf(call, data);
        const fields = Object.entries(UNIQUE_COLUMNS);
        return Object.fromEntries(fields.map(([field, column]) => [field, values[column]]));
      },
      upserts: {
        findMatches: (call, inputs) =>
          upserts.findMatchesOfAll(call, inputs as readonly UpsertLeadDto[]),
        createInputOf: (input) => creationOrNothing(input as UpsertLeadDto, options),
        upsert: async (call, input, matches) => {
          const known = matches as readonly Holder[];
          const done = await upserts.upsert(call, input as UpsertLeadDto, known, options);
          return { id: done.lead.id, status: done.action };
        },
      },
    };
  }
}

/** @returns undefined if the upsert never creates, or has an error, which the upsert itself reports */
function creationOrNothing(
  { mode, data }: UpsertLeadDto,
  { newLead }: UpsertOptions = {},
): CreateLeadDto | undefined {
  if (mode === 'update_only') return undefined;
  try {
    return creationOf(data, newLead);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}
