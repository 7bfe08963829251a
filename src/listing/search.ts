import type { Conditions } from './conditions.js';

/** Any locale makes a trigram of these; without one, the index would be read as a whole. */
const TRIGRAM = /[a-z0-9]{3}/i;

/** Parts of a `search_text` are kept apart by this character, which no term may span. */
const PART_SEPARATOR = '\x1f';

/** So many digits in a row are a number that hardly any other record has. */
const LONG_NUMBER = /[0-9]{5,}/;

/** What stands before the domain of an e-mail address, which many share. */
const LOCAL_PART = /^[^@]{4,}@/;

/** Case-insensitive substring of a table's `search_text`, its special characters taken literally. */
export function addSearch(conditions: Conditions, term: string | undefined): void {
  if (term === undefined) return;
  const text = term.replaceAll(PART_SEPARATOR, ' ');
  const part = tellingPart(text);
  conditions.search('search_text like lower(?)', part && anywhere(part));
  // In another collation than the index, which would be slower than a look at each row.
  if (part !== text) conditions.search('search_text collate "C" like lower(?)', anywhere(text));
}

function anywhere(text: string): string {
  return `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

/**
 * The part of a term by which the index finds it: each of its trigrams is looked up, which takes the
 * longer the more records have it. Undefined where a look at each record is faster.
 */
function tellingPart(term: string): string | undefined {
  const part = LONG_NUMBER.exec(term)?.[0] ?? LOCAL_PART.exec(term)?.[0];
  return [part, term].find((text) => text !== undefined && TRIGRAM.test(text));
}
