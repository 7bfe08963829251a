import { Injectable } from '@nestjs/common';
import type { Call } from '../../platform/data/call.js';
import { idsOf } from '../../platform/data/batches/batch-target.js';
import { SerializationFailure } from '../../platform/data/connection/driver-error.js';
import { withoutUndefined } from '../../platform/fields/changes.js';
import type { Deadline } from '../../platform/data/gateway/policies.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import type { RecordPromise, Stored } from '../../platform/data/records/stored-record.js';
import { ApiError, validationError } from '../../platform/errors/api-error.js';
import { OVERLOAD_HEADERS } from '../../platform/errors/overload.js';
import { readInput } from '../../platform/fields/input/read-input.js';
import { changedTags } from '../../platform/fields/tag-changes.js';
import { CreateLeadDto, type LeadDto, UpdateLeadDto } from './lead.dto.js';
import type { UpsertAction, UpsertLeadDto } from './lead-upsert.dto.js';
import { LeadsService } from './leads.service.js';
import { duplicateOf, type Holder, UNIQUE_COLUMNS } from './lead-values.js';

/** A lead after an upsert, and what was done. */
export interface UpsertedLead {
  readonly lead: Stored<LeadDto>;
  readonly action: UpsertAction;
}

/** How an upsert changes a lead that exists, and what a new one has. */
export interface UpsertOptions {
  /** Whether custom fields that the input does not have stay. Default: false. */
  readonly mergesCustomFields?: boolean;
  /** Values of a new lead that the input does not have. */
  readonly newLead?: CreateLeadDefaults;
}

/** Values that a new lead has in place of the defaults of its fields. */
export type CreateLeadDefaults = Pick<CreateLeadDto, 'source'>;

/** Flags that only an update by id turns off. */
const STICKY = ['sms_opted_out', 'on_dnc_list'] as const;

/** How often an upsert looks for matching leads, before its transaction begins again. */
const MAX_ATTEMPTS = 10;

/** Another request has changed which leads match. */
class MatchChanged extends SerializationFailure {
  constructor() {
    super('overloaded', new Error('other requests have changed the matching leads'), {
      headers: OVERLOAD_HEADERS,
    });
  }
}

type Timed = Call & { readonly deadline: Deadline };

/** Creates leads, or updates those that exist (docs/contract/upsert.md). */
@Injectable()
export class LeadUpsertService {
  constructor(
    private readonly leads: LeadsService,
    private readonly database: TenantDatabase,
  ) {}

  /**
   * Does what the service of leads does for a create or an update, by the leads that match.
   * @param known what the input matches, if it was looked up before
   * @throws ApiError `validation_error`, `not_found`, `duplicate`, `overloaded`, `create_failed`
   */
  async upsert(
    call: Call,
    input: UpsertLeadDto,
    known?: readonly Holder[],
    options: UpsertOptions = {},
  ): Promise<UpsertedLead> {
    const timed = this.database.withDeadline(call);
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.attempt(timed, input, options, attempt === 1 ? known : undefined);
      } catch (error) {
        if (error instanceof MatchChanged && mayContinue(timed, attempt)) continue;
        throw error instanceof ApiError && error.details ? error.within('data') : error;
      }
    }
  }

  private async attempt(
    call: Call,
    input: UpsertLeadDto,
    options: UpsertOptions,
    known?: readonly Holder[],
  ): Promise<UpsertedLead> {
    const { mode, data } = input;
    if (mode === 'create_only') return this.create(call, data, options);
    const matches = known ?? (await this.findMatches(call, input));
    if (idsOf(matches).length > 1) throw duplicateOf(call, matches);
    const [match] = matches;
    if (!match && mode === 'update_only') {
      throw new ApiError('not_found', { message: 'No lead has these values.' });
    }
    const write = match
      ? this.updateMatch(call, data, matches, match.id, options)
      : this.create(call, data, options);
    return write.catch((error: unknown) => {
      throw isAboutMatch(error, input) ? new MatchChanged() : error;
    });
  }

  /** A transaction that may create the lead locks its values first, and looks again. */
  private async findMatches(call: Call, input: UpsertLeadDto): Promise<Holder[]> {
    const [matches = []] = await this.findMatchesOfAll(call, [input]);
    if (matches.length > 0 || !call.transaction) return matches;
    const [locked = []] = await this.findMatchesOfAll(call, [input], true);
    return locked;
  }

  /**
   * Finds what each input matches, in one statement.
   * @param locks whether a transaction locks the values of the inputs
   */
  async findMatchesOfAll(
    call: Call,
    inputs: readonly UpsertLeadDto[],
    locks = false,
  ): Promise<Holder[][]> {
    const leads = inputs.map(({ data }) => data);
    const all = await this.leads.findHolders(call, leads, locks);
    return inputs.map(({ match_on, data }) => {
      const values = this.leads.uniqueValuesOf(call, data);
      return all.filter(({ field, compared }) => {
        return match_on.includes(field) && values[UNIQUE_COLUMNS[field]] === compared;
      });
    });
  }

  private async create(
    call: Call,
    data: UpdateLeadDto,
    { newLead }: UpsertOptions,
  ): Promise<UpsertedLead> {
    const lead = await this.leads.createIfFree(call, creationOf(data, newLead));
    if (!lead) throw new MatchChanged();
    return { lead, action: 'created' };
  }

  private async updateMatch(
    call: Call,
    data: UpdateLeadDto,
    matches: readonly Holder[],
    id: string,
    options: UpsertOptions,
  ): Promise<UpsertedLead> {
    const lead = await this.update(call, id, data, options, (stored) => {
      const isSame = ({ field, value, compared }: Holder) =>
        stored[field] === value ||
        this.leads.uniqueValuesOf(call, stored)[UNIQUE_COLUMNS[field]] === compared;
      if (!matches.every(isSame)) throw new MatchChanged();
    }).stored;
    return { lead, action: lead.isUnchanged ? 'unchanged' : 'updated' };
  }

  /**
   * Updates a lead as an upsert does that matches it.
   * @param check throws if the stored lead must not be updated
   * @throws ApiError `validation_error`, `not_found`, `duplicate`, `create_failed`
   */
  update(
    call: Call,
    id: string,
    data: UpdateLeadDto,
    { mergesCustomFields = false }: UpsertOptions,
    check: (stored: LeadDto) => void = () => undefined,
  ): RecordPromise<LeadDto> {
    return this.leads.update(call, id, data, (stored) => {
      check(stored);
      const { custom_fields: custom } = data;
      const merged = mergesCustomFields && custom && united(stored.custom_fields, custom);
      // Leaves the flags out that are on.
      const kept = STICKY.filter((flag) => stored[flag]).map((flag) => [flag, undefined]);
      const flags = Object.fromEntries(kept) as UpdateLeadDto;
      return { ...data, ...flags, ...(merged && { custom_fields: merged }) };
    });
  }
}

/** Whether an upsert may look for matching leads again. In a transaction, the transaction then begins again. */
function mayContinue({ transaction, deadline }: Timed, attempt: number): boolean {
  return transaction ? attempt < MAX_ATTEMPTS : deadline.waitMs > 0;
}

/** @throws ApiError `validation_error` if there are too many custom fields */
function united(stored: object, given: object): Record<string, unknown> {
  const custom_fields = { ...stored, ...given };
  const { problems } = readInput(UpdateLeadDto, { custom_fields });
  if (problems.length > 0) throw validationError(problems);
  return custom_fields;
}

/** Whether another request has created a lead with a matching value, or deleted the lead that had it. */
function isAboutMatch(error: unknown, { match_on }: UpsertLeadDto): boolean {
  if (!(error instanceof ApiError)) return false;
  if (error.code === 'not_found') return true;
  const fields: readonly string[] = match_on;
  return (
    error.code === 'duplicate' &&
    error.details?.some(({ field }) => fields.includes(field)) === true
  );
}

/**
 * The fields of a new lead.
 * @param defaults values of fields that the input does not have
 * @throws ApiError `validation_error` for what an update accepts and a create does not
 */
export function creationOf(
  { add_tags, remove_tags, append_notes, ...fields }: UpdateLeadDto,
  defaults: CreateLeadDefaults = {},
): CreateLeadDto {
  const tags = changedTags([], { add_tags, remove_tags }) ?? fields.tags;
  const notes = append_notes ?? fields.notes;
  const given = { ...defaults, ...withoutUndefined({ ...fields, tags, notes }) };
  const { value, problems } = readInput(CreateLeadDto, given);
  if (problems.length > 0) throw validationError(problems);
  return value;
}
