import type { Call } from '../../platform/data/call.js';
import type { UniqueViolation } from '../../platform/data/connection/driver-error.js';
import { ApiError } from '../../platform/errors/api-error.js';
import { normalizeEmail, type ParsedPhone } from './contact-identity/contact-identity.js';
import type { UpdateLeadDto } from './lead.dto.js';

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
  holders: readonly { readonly field: UniqueField; readonly id?: string }[],
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

/** The field whose unique index rejected a value. The name of the index has it. */
export function fieldsIn({ constraint }: UniqueViolation): { field: UniqueField }[] {
  const fields = UNIQUE_FIELDS.filter((field) => constraint === `leads_${field}_key`);
  return fields.map((field) => ({ field }));
}
