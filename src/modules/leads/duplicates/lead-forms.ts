import { hash } from 'node:crypto';
import { foldText } from '../../../platform/data/lists/search-text.js';
import { normalizeEmail, parsePhone } from '../../../platform/fields/kinds/email-and-phone.js';
import type { LeadDto } from '../lead.dto.js';
import { fullName } from '../lead-values.js';

/** The fields from which the forms of a lead are computed. */
export const FORM_FIELDS = [
  ...(['first_name', 'last_name', 'company', 'zip', 'email', 'phone'] as const),
] as const;

export type FormedLead = Pick<LeadDto, 'id' | (typeof FORM_FIELDS)[number]>;

/** Why two leads are likely duplicates: they have the same form of this name (docs/contract/duplicates.md#reasons). */
export const REASONS = ['email', 'phone', 'name_zip', 'name_company'] as const;
export type Reason = (typeof REASONS)[number];

/** The forms of a lead, as hashes of equal length. */
export type LeadForms = Readonly<Record<Reason, string | null>> & { readonly id: string };

/** @param region of numbers without a country code, ISO 3166-1 alpha-2 */
export function formsOf(lead: FormedLead, region: string): LeadForms {
  const { id, email, phone, zip, company } = lead;
  const withName = (text: string | null) =>
    text === null ? null : hashOf(`${foldText(fullName(lead))}\x1f${foldText(text)}`);
  return {
    id,
    email: email === null ? null : hashOf(mailboxOf(email)),
    phone: phone === null ? null : hashOf(parsePhone(phone, region).normalized),
    name_zip: withName(zip),
    name_company: withName(company),
  };
}

/** The domains whose mailboxes are the same with and without dots. */
const WITHOUT_DOTS = ['gmail.com', 'googlemail.com'];

/** The mailbox of an e-mail address: without the part after a plus, and at Gmail without dots. */
export function mailboxOf(email: string): string {
  const normalized = normalizeEmail(email);
  const at = normalized.lastIndexOf('@');
  const [local, domain] = [normalized.slice(0, at), normalized.slice(at + 1)];
  // An address can begin with a plus.
  const mailbox = local.replace(/(?<=.)\+.*$/s, '');
  return WITHOUT_DOTS.includes(domain)
    ? `${mailbox.replaceAll('.', '')}@${WITHOUT_DOTS[0]}`
    : `${mailbox}@${domain}`;
}

/** 128 bits of a hash as a UUID: under row-level security, PostgreSQL uses an index for comparisons of UUIDs. */
function hashOf(text: string): string {
  return hash('sha256', text).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}
