import { codePointLength } from '../fields/text.js';
import type { Conditions } from './list-statement.js';

/** Trigrams say nothing of shorter terms, for which a plain look at each row is far cheaper. */
const SHORTEST_INDEXED_TERM = 3;

/** Parts of a `search_text` are kept apart by this character, which no term may span. */
const PART_SEPARATOR = '\x1f';

/** Case-insensitive substring of a table's `search_text`, its special characters taken literally. */
export function addSearch(conditions: Conditions, term: string | undefined): void {
  if (term === undefined) return;
  const text = term.replaceAll(PART_SEPARATOR, ' ');
  if (codePointLength(text) < SHORTEST_INDEXED_TERM) {
    conditions.add('strpos(search_text, lower(?)) > 0', text);
  } else {
    const pattern = text.replaceAll(/[\\%_]/g, String.raw`\$&`);
    conditions.add('search_text like lower(?)', `%${pattern}%`);
  }
}
