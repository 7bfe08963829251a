import { Injectable } from '@nestjs/common';
import type { Call, InTransaction } from '../../platform/data/call.js';
import { UniqueViolation } from '../../platform/data/connection/driver-error.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { ReferringRecords } from '../../platform/data/records/referring-records.service.js';
import { type Stored, assertPrecondition } from '../../platform/data/records/stored-record.js';
import { ApiError, validationError } from '../../platform/errors/api-error.js';
import { changedFields, withoutUndefined } from '../../platform/fields/changes.js';
import { namesOf } from '../../platform/fields/field.js';
import { readInput } from '../../platform/fields/input/read-input.js';
import { ContactIdentityService } from './contact-identity/contact-identity.service.js';
import { CreateLeadDto, type LeadDto, UpdateLeadDto } from './lead.dto.js';
import type { LeadMergePreviewDto, LeadPreferences, MergeLeadDto } from './lead-merge.dto.js';
import { LeadsRepository } from './leads.repository.js';
import { LeadsService } from './leads.service.js';

type Unite<T> = (first: T, second: T) => T;
type Merged = Omit<LeadDto, 'id' | 'lead_score' | 'created_at' | 'updated_at'>;

/** How fields that keep the values of both leads unite them. The first lead takes precedence. */
const UNITED: { readonly [F in keyof Merged]?: Unite<Merged[F]> } = {
  tags: (first, second) => [...new Set([...first, ...second])],
  custom_fields: (first, second) => ({ ...second, ...first }),
  notes: (first, second) => [...new Set([first, second])].filter(Boolean).join('\n\n') || null,
  sms_opted_out: (first, second) => first || second,
  on_dnc_list: (first, second) => first || second,
};

/** What a merge has done. */
export interface LeadMerge {
  /** The lead that stays, after the merge. */
  readonly lead: Stored<LeadDto>;
  /** The leads before the merge. */
  readonly target: LeadDto;
  readonly source: LeadDto;
  /** How many records of each table refer to the target and referred to the source, without deleted ones. */
  readonly moves: Readonly<Record<string, number>>;
}

/** Merges two leads that are the same person (docs/contract/merge.md). */
@Injectable()
export class LeadMergeService {
  constructor(
    private readonly database: TenantDatabase,
    private readonly repository: LeadsRepository,
    private readonly leads: LeadsService,
    private readonly referring: ReferringRecords,
    private readonly identity: ContactIdentityService,
  ) {}

  /**
   * Merges the lead of the input into another one. The precondition of the call is that of the other one.
   * @param id of the lead that stays
   * @throws ApiError `not_found`, `lead_not_found`, `validation_error`, `duplicate`, `precondition_failed`,
   *   `create_failed`
   */
  async merge(call: Call, id: string, input: MergeLeadDto): Promise<LeadMerge> {
    const { lead_id, prefer } = input;
    if (id.toLowerCase() === lead_id) {
      throw validationError([{ field: 'lead_id', message: 'must be another lead' }]);
    }
    return this.database.transaction({ ...call, precondition: undefined }, async (inner) => {
      await this.repository.lockAll(inner, [id, lead_id]);
      const stored = await this.leads.get(inner, id).stored;
      const target = stored.value();
      const source = await this.leads.getReferenced(inner, 'lead_id', lead_id);
      const changes = changedFields(target, mergedFields(target, source, prefer ?? {})) ?? {};
      assertWithinBounds(changes);
      assertPrecondition(call, stored);
      // Its e-mail, phone and external id are then free. The event of its deletion names the other lead.
      await this.repository.delete(inner, source.id, { merged_into: target.id });
      const moves = await this.moveReferences(inner, source.id, target.id);
      const lead = await this.leads.update(inner, target.id, changes, undefined, true).stored;
      await this.refillForms(inner, target.id);
      return { lead, target, source, moves };
    });
  }

  /**
   * What a merge would do. Nothing is written.
   * @throws ApiError as `merge`
   */
  preview(call: Call, id: string, input: MergeLeadDto): Promise<LeadMergePreviewDto> {
    return this.database.dryRun(call, async (inner) => {
      const { lead, ...others } = await this.merge(inner, id, input);
      return { dry_run: true, would_answer: lead.value(), ...others };
    });
  }

  private async moveReferences(call: InTransaction<Call>, from: string, to: string) {
    try {
      return await this.referring.move(call, this.repository.table.name, from, to);
    } catch (error) {
      if (!(error instanceof UniqueViolation)) throw error;
      const message = 'Records of both leads cannot belong to one lead.';
      throw new ApiError('duplicate', { message, cause: error });
    }
  }

  /** Writes a normalized form that the deleted lead had. If another lead takes it at this moment, that lead has it. */
  private async refillForms(call: InTransaction<Call>, id: string): Promise<void> {
    const { phoneRegion } = call.tenant;
    try {
      await this.database.transaction(call, (part) =>
        this.identity.refillOne(part, phoneRegion, id),
      );
    } catch (error) {
      if (!(error instanceof UniqueViolation)) throw error;
    }
  }
}

/** @throws ApiError `validation_error` that names the fields which are too large together */
function assertWithinBounds({ tags, custom_fields, notes }: UpdateLeadDto): void {
  const united = withoutUndefined({ tags, custom_fields, notes });
  const { problems } = readInput(UpdateLeadDto, united);
  if (problems.length > 0) throw validationError(problems);
}

/** The fields of a lead after another one was merged into it (docs/contract/merge.md#fields). */
function mergedFields(target: LeadDto, source: LeadDto, prefer: LeadPreferences): Merged {
  const names = namesOf(CreateLeadDto) as (keyof Merged)[];
  const entries = names.map((name) => {
    const [first, second] = prefer[name] === 'source' ? [source, target] : [target, source];
    const unite = (UNITED[name] ?? firstGiven) as Unite<unknown>;
    return [name, unite(first[name], second[name])];
  });
  return Object.fromEntries(entries) as Merged;
}

function firstGiven<T>(first: T, second: T): T {
  return first ?? second;
}
