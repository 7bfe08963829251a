import { Injectable } from '@nestjs/common';
import type { Call } from '../../../platform/data/call.js';
import type { ApiError } from '../../../platform/errors/api-error.js';
import { describeProblem, type FieldProblem } from '../../../platform/errors/field-problem.js';
import { mergeProblems, readInput } from '../../../platform/fields/input/read-input.js';
import { isObject } from '../../../platform/fields/kinds/json-object.js';
import { UUID } from '../../../platform/fields/kinds/uuid.js';
import { giveWay } from '../../../platform/give-way.js';
import { CreateLeadDto, UpdateLeadDto } from '../lead.dto.js';
import { LeadCustomFieldsService, OF_NEW_LEAD } from '../lead-custom-fields.service.js';
import { LeadsService } from '../leads.service.js';
import { duplicateOf, type Holder, UNIQUE_COLUMNS } from '../lead-values.js';
import type { LeadValues } from './cells.js';
import type { ImportItem } from './import-items.js';
import type { ImportPlan } from './lead-import.entity.js';

/** A record that was rejected. */
export interface Rejection {
  readonly item: ImportItem;
  /** The error of the item, if it was carried out. */
  readonly error?: object | undefined;
}

/** What was found out about a rejected record without other leads. */
interface Checked extends Rejection {
  readonly problems: readonly FieldProblem[];
  /** The data without the fields that have problems. */
  readonly valid: UpdateLeadDto;
}

type Details = ApiError['details'];

const NO_LEAD = 'No lead has these values.';

/** Finds all reasons for which a record is rejected. The error of its item has only the first. */
@Injectable()
export class LineReasons {
  constructor(
    private readonly leads: LeadsService,
    private readonly customFields: LeadCustomFieldsService,
  ) {}

  /**
   * @param call in the transaction in which the records were carried out
   * @returns the reasons of each record as one text
   * @throws ApiError `create_failed`
   */
  async of(call: Call, plan: ImportPlan, rejections: readonly Rejection[]): Promise<string[]> {
    if (rejections.length === 0) return [];
    const checked: Checked[] = [];
    for (const rejection of rejections) {
      const turn = giveWay();
      if (turn) await turn;
      checked.push(await this.check(call, rejection));
    }
    const all = checked.map(({ valid }) => valid);
    const holders = await this.leads.findHolders(call, all);
    return checked.map((one) => {
      const reasons = [
        ...one.item.faults,
        ...one.problems.map(describeProblem),
        ...this.reasonsOfLeads(call, plan, one, holders),
        ...reasonsOfError(one.error),
      ];
      return [...new Set(reasons)].join('; ');
    });
  }

  private async check(call: Call, rejection: Rejection): Promise<Checked> {
    const { action, id, data, problems: found, isRead } = rejection.item;
    if (!isRead) return { ...rejection, problems: found, valid: {} };
    const unread = [...found];
    if (action === 'update' && !(typeof id === 'string' && UUID.test(id.trim()))) {
      unread.push({ field: 'id', message: 'must be a UUID' });
    }
    const dto = action === 'create' ? CreateLeadDto : UpdateLeadDto;
    const { value, problems: invalid } = readInput<UpdateLeadDto>(dto, data, unread);
    const custom = isObject(data.custom_fields) ? data.custom_fields : {};
    const isCustomInvalid = invalid.some(({ field }) => field === 'custom_fields');
    const checks = action === 'create' ? OF_NEW_LEAD : { isWhole: false };
    const ofCustom = isCustomInvalid
      ? []
      : await this.customFields.problemsOf(call, custom, checks);
    const problems = [...invalid, ...ofCustom];
    const names = new Set(problems.map(({ field }) => field));
    const entries = Object.entries(value).filter(([name]) => !names.has(name));
    return { ...rejection, problems, valid: Object.fromEntries(entries) as UpdateLeadDto };
  }

  /** The reasons that depend on stored leads: fields that a new lead needs, and values of other leads. */
  private reasonsOfLeads(
    call: Call,
    { mode, matchOn }: ImportPlan,
    { item: { action, id, data, isRead }, problems, valid }: Checked,
    holders: readonly Holder[],
  ): string[] {
    if (!isRead) return [];
    const values = this.leads.uniqueValuesOf(call, valid);
    const own = holders.filter(
      ({ field, compared }) => valid[field] && values[UNIQUE_COLUMNS[field]] === compared,
    );
    const isMatch = ({ field }: Holder) => action === 'upsert' && matchOn.includes(field);
    const matches = new Set(own.filter(isMatch).map((holder) => holder.id));
    if (action === 'update') matches.add(String(id).trim().toLowerCase());
    const others = own.filter((holder) => matches.size > 1 || !matches.has(holder.id));
    const duplicates = others.length > 0 ? textsOf(duplicateOf(call, others).details) : [];
    if (action === undefined || matches.size > 0) return duplicates;
    // An invalid value could be that of a lead.
    const isSought = matchOn.some((field) => field !== 'id' && valid[field]);
    if (mode === 'update_only') return isSought ? [NO_LEAD, ...duplicates] : duplicates;
    return [...missingFields(data, problems), ...duplicates];
  }
}

/** What a new lead lacks. */
function missingFields(
  { add_tags: _, ...data }: LeadValues,
  found: readonly FieldProblem[],
): string[] {
  const { problems } = readInput(CreateLeadDto, data);
  return mergeProblems(found, [...problems])
    .slice(found.length)
    .map(describeProblem);
}

/** The reasons of a failed item, with the names of the fields as in the file. */
function reasonsOfError(error: object | undefined): string[] {
  if (!error) return [];
  const { code, message, details } = error as ApiError;
  if (code === 'not_found' && !details) {
    return [message === NO_LEAD ? message : 'id is that of no lead'];
  }
  return details && details.length > 0 ? textsOf(details) : [message];
}

function textsOf(details: Details = []): string[] {
  return details.map(({ field, existing_id: id, ...problem }) => {
    const text = describeProblem({ ...problem, field: field.replace(/^data\./, '') });
    return id === undefined ? text : `${text} (${id})`;
  });
}
