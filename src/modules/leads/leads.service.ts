import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { UniqueViolation } from '../../platform/data/connection/driver-error.js';
import type { DirectChange } from '../../platform/data/records/record-updates.js';
import type { Row } from '../../platform/data/records/record-statements.js';
import { RecordPromise, type Stored } from '../../platform/data/records/stored-record.js';
import { importedRow, type Times } from '../../platform/data/records/tenant-repository.js';
import { ApiError } from '../../platform/errors/api-error.js';
import { notFound } from '../../platform/errors/or-not-found.js';
import { changedFields } from '../../platform/fields/changes.js';
import { appendedNotes } from '../../platform/fields/note-changes.js';
import { changedTags } from '../../platform/fields/tag-changes.js';
import { trimInvisible } from '../../platform/fields/kinds/text.js';
import type { Counts } from '../../platform/data/lists/count.dto.js';
import type { CursorPage, Page } from '../../platform/data/lists/page.js';
import type { Call, InTransaction } from '../../platform/data/call.js';
import {
  fullName,
  changesSearchText,
  leadSearchText,
  type Holder,
  type UniqueValues,
  uniqueValuesOf,
  phoneOf,
} from './lead-values.js';
import {
  type CreateLeadDto,
  type LeadDto,
  type LeadFilters,
  type LeadListItemDto,
  type LeadListQuery,
  type LeadCountQuery,
  type UpdateLeadDto,
} from './lead.dto.js';
import { markToRewrite } from '../../platform/data/lists/search-text.js';
import { leadNotFound } from './lead-exists.js';
import { LeadScorer, scorable, type ScorableLead } from './lead-scorer.js';
import { FieldDefinitionsService } from '../custom-fields/field-definitions.service.js';
import {
  type CustomFields,
  LeadCustomFieldsService,
  OF_NEW_LEAD,
  orNothing,
} from './lead-custom-fields.service.js';
import { LeadFailuresService } from './lead-failures.service.js';
import { LeadsRepository } from './leads.repository.js';

/** What an update does beside its input. */
interface LeadChange {
  readonly claim: UniqueValues;
  /** Whether the lead is to be written again, because an earlier release wrote its search text. */
  readonly isToRewrite: boolean;
  readonly touches: boolean;
}

/** Business rules of leads (docs/contract/resources.md#leads). */
@Injectable()
export class LeadsService {
  constructor(
    private readonly repository: LeadsRepository,
    private readonly scorer: LeadScorer,
    private readonly customFields: LeadCustomFieldsService,
    private readonly definitions: FieldDefinitionsService,
    private readonly failures: LeadFailuresService,
  ) {}

  /** @throws ApiError `query_failed` */
  async list(call: Call, query: LeadListQuery): Promise<Page<LeadListItemDto>> {
    return this.repository.list(call, await this.definitions.typed(call, query));
  }

  /**
   * A page of the list that is read by cursor.
   * @throws ApiError `query_failed`
   */
  async listAfter(call: Call, query: LeadListQuery): Promise<CursorPage<LeadListItemDto>> {
    return this.repository.listAfter(call, await this.definitions.typed(call, query));
  }

  /**
   * The numbers of leads by value.
   * @throws ApiError `validation_error` for a time zone that PostgreSQL does not know, `query_failed`
   */
  async count(call: Call, query: LeadCountQuery): Promise<Counts> {
    const typed = await this.definitions.typed(call, query);
    return this.repository.count(call, typed, await this.customFields.listKeysOf(call));
  }

  /**
   * Reads the leads of a list as JSON, in pages of one snapshot, the oldest first.
   * @param signal ends the read with an error
   * @throws ApiError `overloaded`, `query_failed`
   */
  async *readSnapshot(
    call: Call,
    filters: LeadFilters,
    signal: AbortSignal,
  ): AsyncGenerator<string[], void> {
    const typed = await this.definitions.typed(call, filters);
    yield* this.repository.readSnapshot(call, typed, signal);
  }

  /** @throws ApiError `not_found`, `query_failed` */
  get(call: Call, id: string): RecordPromise<LeadDto> {
    return this.repository.find(call, id).orElse(() => this.failures.missing(call, id));
  }

  /**
   * The lead that a field of the input names.
   * @throws ApiError `lead_not_found` with the name of the field
   */
  async getReferenced(call: Call, field: string, id: string): Promise<LeadDto> {
    const lead = await this.repository.find(call, id);
    if (!lead) throw leadNotFound(field, await this.failures.findSurvivor(call, id));
    return lead;
  }

  /**
   * The first leads whose ids start with a prefix.
   * @throws ApiError `query_failed`
   */
  findByIdPrefix(call: Call, prefix: string, limit: number): Promise<LeadDto[]> {
    return this.repository.findByIdPrefix(call, prefix, limit);
  }

  /**
   * The names of leads by their ids, without those of deleted leads.
   * @throws ApiError `query_failed`
   */
  async findNames(call: Call, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const leads = ids.length > 0 ? await this.repository.findNames(call, ids) : [];
    return new Map(leads.map((lead) => [lead.id, fullName(lead)]));
  }

  /** @throws ApiError `validation_error`, `duplicate`, `create_failed` */
  create(call: Call, input: CreateLeadDto): RecordPromise<LeadDto> {
    return RecordPromise.of<LeadDto>(async () => {
      await this.customFields.assertValid(call, input.custom_fields ?? {}, OF_NEW_LEAD);
      const row = { id: uuidv7(), ...this.toRow(call, input) };
      const lead = this.repository.insertRow(call, row).orElse(() => notFound('lead'));
      return lead.stored.catch((error: unknown) => this.failures.notWritten(call, row, error));
    });
  }

  /**
   * Creates leads in one statement.
   * @returns undefined for each lead that cannot be created; `create` throws its error
   * @throws ApiError `create_failed`
   */
  async createTogether(
    call: Call,
    inputs: readonly CreateLeadDto[],
  ): Promise<(Stored<LeadDto> | undefined)[]> {
    const rows = new Map<CreateLeadDto, { id: string }>();
    for (const input of inputs) {
      const { custom_fields: custom = {} } = input;
      const problems = await this.customFields.problemsOf(call, custom, OF_NEW_LEAD);
      if (problems.length === 0) rows.set(input, { id: uuidv7(), ...this.toRow(call, input) });
    }
    const insert = this.repository.insertTogether(call, [...rows.values()]);
    // A definition refuses one of the leads.
    const created = await insert.catch(orNothing);
    const leads = new Map(created.map((lead) => [lead?.id, lead]));
    return inputs.map((input) => leads.get(rows.get(input)?.id));
  }

  /**
   * Creates leads with creation times in the past, for imported data.
   * @returns their ids, in the order of the leads
   * @throws ApiError `duplicate`, `create_failed`; no lead is created then
   */
  async createMany(call: Call, inputs: readonly (CreateLeadDto & Times)[]): Promise<string[]> {
    const rows = inputs.map((input) => importedRow(this.toRow(call, input), input));
    await this.repository.insertMany(call, rows).catch((error: unknown) => {
      throw error instanceof UniqueViolation ? new ApiError('duplicate', { cause: error }) : error;
    });
    return rows.map(({ id }) => id);
  }

  /**
   * The leads, not deleted, that have the e-mail, phone or external id of any input, once for each field.
   * @param locks whether a transaction locks the values, so that no other one gives them to leads meanwhile
   * @throws ApiError `create_failed`, because it is part of a write
   */
  findHolders(call: Call, inputs: readonly UpdateLeadDto[], locks = false): Promise<Holder[]> {
    const values = inputs.map((input) => this.uniqueValuesOf(call, input));
    return this.repository.findHolders(call, values, locks);
  }

  /**
   * Like `create`, unless another request of this instance creates a lead with the same e-mail, phone or external id.
   * @returns undefined if one did; it has ended then
   */
  createIfFree(call: Call, input: CreateLeadDto): Promise<Stored<LeadDto> | undefined> {
    const create = (inner: Call) => this.create(inner, input).stored;
    return this.repository.ifFree(call, this.uniqueValuesOf(call, input), create);
  }

  /** Locks the e-mails, phones and external ids of the inputs until the transaction ends. */
  lockBefore(call: InTransaction<Call>, inputs: readonly UpdateLeadDto[]): Promise<void> {
    const values = inputs.map((input) => this.uniqueValuesOf(call, input));
    return this.repository.lockValues(call, values);
  }

  /** Locks leads until the transaction ends, in the order of their ids. */
  lockAll(call: InTransaction<Call>, ids: readonly string[]): Promise<void> {
    return this.repository.lockAndRead(call, ids);
  }

  /** The values of a lead that no other lead of the organization may have, in their compared forms. */
  uniqueValuesOf(call: Call, lead: UpdateLeadDto): UniqueValues {
    return uniqueValuesOf(lead, phoneOf(call, lead));
  }

  /**
   * @param inputFor returns the input for the stored lead. It may change only fields that are not unique. It throws if the
   *   lead must not be updated.
   * @param isMerge whether the values are those of stored leads. Their custom fields need no further ones, and the lead gets
   *   a new `updated_at` and an event also if it has all values.
   * @throws ApiError `not_found`, `validation_error`, `duplicate`, `create_failed`
   */
  update(
    call: Call,
    id: string,
    input: UpdateLeadDto,
    inputFor?: (stored: LeadDto) => UpdateLeadDto,
    isMerge = false,
  ): RecordPromise<LeadDto> {
    return RecordPromise.of<LeadDto>(async () => {
      let fields: CustomFields | undefined = input.custom_fields;
      const given = fields;
      if (given) {
        await this.customFields.assertValid(call, given, { isWhole: !inputFor && !isMerge });
      }
      const claim = { id, ...uniqueValuesOf(input, phoneOf(call, input)) };
      const isToRewrite = changesSearchText(input) && (await this.repository.isToRewrite(call, id));
      const comparesKeys = given && !isMerge && call.tenant.unknownFields === 'refuse';
      const needsStored = inputFor !== undefined || comparesKeys === true;
      const direct = needsStored ? undefined : this.directChangeOf(input);
      const revise = async (stored: LeadDto) => {
        const changes = inputFor?.(stored) ?? input;
        fields = changes.custom_fields;
        if (fields && needsStored) {
          const checks = { isWhole: fields === given, stored: stored.custom_fields };
          await this.customFields.assertValid(call, fields, checks);
        }
        return this.revised(call, stored, changes, { claim, isToRewrite, touches: isMerge });
      };
      const lead = this.repository
        .update(call, id, revise, direct)
        .orElse(() => this.failures.missing(call, id));
      return lead.stored.catch((error: unknown) =>
        this.failures.notWritten(call, { ...claim, custom_fields: fields }, error),
      );
    });
  }

  /** The columns that an update sets. @returns undefined if it changes nothing */
  private revised(
    call: Call,
    stored: LeadDto,
    { add_tags, remove_tags, append_notes, ...fields }: UpdateLeadDto,
    { claim: { email_compared, phone_compared }, isToRewrite, touches }: LeadChange,
  ): Row | undefined {
    const tags = changedTags(stored.tags, { add_tags, remove_tags }) ?? fields.tags;
    const notes = appendedNotes(stored.notes, append_notes) ?? fields.notes;
    const changed = changedFields(stored, { ...fields, tags, notes });
    if (!changed && !touches) return undefined;
    const changes = changed ?? {};
    const lead = scorable({ ...stored, ...changes });
    // A new search text would end the refill of the lead, which has to compute its unchanged e-mail and phone as well.
    const mark = isToRewrite ? markToRewrite : (text: string) => text;
    // Without the characters that are trimmed, the stored address is repeated. Another lead may have it.
    const isTrimmed = trimInvisible(stored.email ?? '') === changes.email;
    // A lead whose normalized form belongs to another lead stays without it until the field changes.
    return {
      ...changes,
      lead_score: this.score(lead),
      ...(changesSearchText(changes) && {
        search_text: mark(leadSearchText(lead, phoneOf(call, lead))),
      }),
      ...('email' in changes && !isTrimmed && { email_compared }),
      ...('phone' in changes && { phone_compared }),
    };
  }

  /** @returns undefined if a field of the update changes tags or notes, or determines the score or other columns of the lead */
  private directChangeOf(input: UpdateLeadDto): DirectChange | undefined {
    if (input.add_tags || input.remove_tags || input.append_notes) return undefined;
    const scored = this.scorer.scoredFields();
    if (!scored || changesSearchText(input)) return undefined;
    return scored.some((name) => input[name] !== undefined) ? undefined : { values: input };
  }

  /** @throws ApiError `not_found`, `create_failed` */
  async delete(call: Call, id: string): Promise<{ id: string; deleted: true }> {
    if (!(await this.repository.delete(call, id))) await this.failures.missing(call, id);
    return { id, deleted: true };
  }

  private toRow(call: Call, input: CreateLeadDto) {
    const lead = scorable(input);
    return { ...lead, ...this.computedOf(call, lead) };
  }

  /** The columns that are computed from the fields of a lead. */
  computedOf(call: Call, lead: ScorableLead) {
    const phone = phoneOf(call, lead);
    return {
      ...uniqueValuesOf(lead, phone),
      search_text: leadSearchText(lead, phone),
      lead_score: this.score(lead),
    };
  }

  private score(lead: ScorableLead): number {
    const score = this.scorer.score(lead);
    if (Number.isInteger(score) && score >= 0 && score <= 100) return score;
    throw new Error(
      `${this.scorer.constructor.name} returned a score that is not an integer from 0 to 100`,
    );
  }
}
