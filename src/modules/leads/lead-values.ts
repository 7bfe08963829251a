// The values that are computed from the fields of a lead: its name, its search text, and those that no two leads share.
import type { Call } from '../../platform/data/call.js';
import type { UniqueViolation } from '../../platform/data/connection/driver-error.js';
import { isFolded, searchTextOf } from '../../platform/data/lists/search-text.js';
import { ApiError } from '../../platform/errors/api-error.js';
import {
  normalizeEmail,
  type ParsedPhone,
  parsePhone,
} from '../../platform/fields/kinds/email-and-phone.js';
import type { LeadDto, UpdateLeadDto } from './lead.dto.js';

/** The first and last name of a lead. */
export function fullName({ first_name, last_name }: Pick<LeadDto, 'first_name' | 'last_name'>) {
  return last_name === null ? first_name : `${first_name} ${last_name}`;
}

/** The parsed phones of inputs, which batches need several times. */
const PHONES = new WeakMap<UpdateLeadDto, ParsedPhone>();

export function phoneOf(call: Call, lead: UpdateLeadDto): ParsedPhone | undefined {
  if (!lead.phone) return undefined;
  const phone = PHONES.get(lead) ?? parsePhone(lead.phone, call.tenant.phoneRegion);
  PHONES.set(lead, phone);
  return phone;
}

/** The columns of the values that no two leads of an organization share, by field. */
export const UNIQUE_COLUMNS = {
  email: 'email_compared',
  phone: 'phone_compared',
  external_id: 'external_id',
} as const;

export type UniqueField = keyof typeof UNIQUE_COLUMNS;

export const UNIQUE_FIELDS = Object.keys(UNIQUE_COLUMNS) as UniqueField[];

/** The values of a lead that no other lead of the organization may have, by column. */
export type UniqueValues = Readonly<Record<(typeof UNIQUE_COLUMNS)[UniqueField], string | null>>;

/** A lead, not deleted, that has one of the unique values. */
export interface Holder {
  readonly id: string;
  readonly created_at: Date;
  readonly field: UniqueField;
  /** The field as it was given. */
  readonly value: string;
  /** The compared form of the value. */
  readonly compared: string;
}

export function uniqueValuesOf(
  { email, external_id = null }: UpdateLeadDto,
  phone: ParsedPhone | undefined,
): UniqueValues {
  return {
    email_compared: email ? normalizeEmail(email) : null,
    phone_compared: phone?.normalized ?? null,
    external_id,
  };
}

/**
 * The error for values of other leads. It names these leads if the key may read leads.
 * @param holders the fields, each with the id of the lead that has its value, unless that was deleted since
 */
export function duplicateOf(
  call: Call,
  holders: readonly { readonly field: string; readonly id?: string }[],
): ApiError {
  const mayRead = call.actor.scopes.has('leads:read');
  if (mayRead) call.replay?.needFor('existing_id', 'leads:read');
  const details = holders.map(({ field, id }) => {
    const detail = { field, message: 'belongs to another lead' };
    return mayRead && id !== undefined ? { ...detail, existing_id: id } : detail;
  });
  const fields = [...new Set(holders.map(({ field }) => field))].join(' and ');
  const leads = new Set(holders.map(({ id }) => id)).size;
  const message =
    leads > 1 ? `Other leads have this ${fields}.` : `Another lead has this ${fields}.`;
  return new ApiError('duplicate', { message, details });
}

/** The field whose unique index rejected a value. The name of the index has it, and a trigger names a custom field. */
export function fieldsIn({ constraint }: UniqueViolation): { field: string }[] {
  if (constraint.startsWith('custom_fields.')) return [{ field: constraint }];
  const fields = UNIQUE_FIELDS.filter((field) => constraint === `leads_${field}_key`);
  return fields.map((field) => ({ field }));
}

/** The fields that make up the search text. */
const SEARCHED = ['first_name', 'last_name', 'company', 'email', 'phone'] as const;

type SearchableLead = Pick<LeadDto, (typeof SEARCHED)[number]>;

/** Whether an update changes the text that a search matches. */
export function changesSearchText(changes: object): boolean {
  return SEARCHED.some((name) => name in changes);
}

/** The text that a search for leads matches: names in both orders, company, e-mail and phone. */
export function leadSearchText(lead: SearchableLead, phone: ParsedPhone | undefined): string {
  const { first_name, last_name, company, email } = lead;
  // "Ada Lovelace Ada" contains both orders of the names.
  const names = last_name === null ? first_name : `${fullName(lead)} ${first_name}`;
  const numbers = phone ? [phone.normalized, phone.nationalDigits ?? '', phone.digits] : [];
  return searchTextOf({ texts: [lead.phone, email, company, names], numbers });
}

/** The search text of a lead, and the fields from which it is computed. */
export type StoredSearchText = SearchableLead & { readonly search_text: string };

/** Whether a stored search text is that of the lead, waits to be written again, or is that of other values. */
export function searchTextState(
  lead: StoredSearchText,
  region: string,
): 'current' | 'waiting' | 'wrong' {
  if (!isFolded(lead.search_text)) return 'waiting';
  const phone = lead.phone === null ? undefined : parsePhone(lead.phone, region);
  return lead.search_text === leadSearchText(lead, phone) ? 'current' : 'wrong';
}
