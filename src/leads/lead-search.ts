import { PHONE } from '../fields/phone.js';
import { searchTextOf } from '../listing/search-text.js';
import { parsePhone, type ParsedPhone } from './contact-identity.js';
import { fullName } from './full-name.js';
import type { LeadDto } from './lead.dto.js';

type SearchableLead = Pick<LeadDto, 'first_name' | 'last_name' | 'company' | 'email' | 'phone'>;

/** What a lead is searched by: its names in both orders, company, e-mail and phone. */
export function leadSearchText(lead: SearchableLead, phone: ParsedPhone | undefined): string {
  const { first_name, last_name, company, email } = lead;
  // Both orders in one text, which is shorter than two.
  const names = last_name === null ? first_name : `${fullName(lead)} ${first_name}`;
  const numbers = phone ? [phone.normalized, phone.nationalDigits ?? '', phone.digits] : [];
  return searchTextOf({ texts: [lead.phone, email, company, names], numbers });
}

/**
 * The digits by which a term finds phones however they are written, where it reads as one itself.
 * @param region of the organization
 */
export function searchDigits(term: string, region: string): readonly string[] {
  if (!PHONE.test(term)) return [];
  const { normalized, digits } = parsePhone(term, region);
  return normalized.includes(digits) ? [digits] : [normalized, digits];
}
