import { isPhone } from '../../platform/fields/kinds/phone.js';
import { searchTextOf } from '../../platform/data/lists/search-text.js';
import { parsePhone, type ParsedPhone } from './contact-identity/contact-identity.js';
import { fullName } from './full-name.js';
import type { LeadDto } from './lead.dto.js';

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

/**
 * The digits to search for in phones, if the search term itself has the form of a phone.
 * @param region of the organization
 */
export function searchDigits(term: string, region: string): readonly string[] {
  if (!isPhone(term)) return [];
  const { normalized, digits } = parsePhone(term, region);
  return normalized.includes(digits) ? [digits] : [normalized, digits];
}
