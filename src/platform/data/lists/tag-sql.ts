import { NAMES_COLLATION } from '../names-collation.js';
import type { Conditions } from './conditions.js';
import { containing } from './search-text.js';

const ASCII_WORD = /[a-z0-9]/i;

/**
 * SQL of records that have a tag, in any case. A trigger writes `COLUMN_folded`: the tags in lower case by the same
 * collation, with `\x1f` before and after each, so that a pattern with both finds a whole tag.
 */
export function tagSql(conditions: Conditions, column: string, tag: string): string {
  const pattern = conditions.parameter(containing(`\x1f${tag.replaceAll('\x1f', ' ')}\x1f`));
  // For a pattern without a trigram, which a tag without ASCII letters and digits can be, PostgreSQL would read the
  // whole index. In another collation than that of the index, the default, it does not use the index.
  const collation = ASCII_WORD.test(tag) ? '"default"' : '"C"';
  const folded = `lower(${pattern}::text collate ${NAMES_COLLATION}) collate ${collation}`;
  return `${column}_folded like (${folded})`;
}
