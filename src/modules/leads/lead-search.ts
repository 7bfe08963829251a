import { isPhone } from '../../platform/fields/kinds/phone.js';
import type { Conditions } from '../../platform/data/lists/conditions.js';
import { containing, searchTextOf } from '../../platform/data/lists/search-text.js';
import { NAMES_COLLATION } from '../../platform/data/names-collation.js';
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
 * The digits to search for in phones, if the search term itself has the form of a phone. A lead with any of them matches.
 * @param region of the organization
 */
export function searchDigits(term: string, region: string): readonly string[] {
  if (!isPhone(term)) return [];
  const { normalized, digits } = parsePhone(term, region);
  // A phone that contains the normalized form then contains the digits.
  return normalized.includes(digits) ? [digits] : [normalized, digits];
}

const ASCII_WORD = /[a-z0-9]/i;

/**
 * Selects leads that have all of the tags, in any case. A trigger writes `tags_folded`: the tags in lower case by the same
 * collation, with `\x1f` before and after each, so that a pattern with both finds a whole tag.
 */
export function addTags(conditions: Conditions, tags: readonly string[] = []): void {
  for (const tag of tags) {
    const pattern = conditions.parameter(containing(`\x1f${tag.replaceAll('\x1f', ' ')}\x1f`));
    // For a pattern without a trigram, which a tag without ASCII letters and digits can be, PostgreSQL would read the
    // whole index. In another collation than that of the index, the default, it does not use the index.
    const collation = ASCII_WORD.test(tag) ? '"default"' : '"C"';
    const folded = `lower(${pattern}::text collate ${NAMES_COLLATION}) collate ${collation}`;
    conditions.search(`tags_folded like (${folded})`);
  }
}
