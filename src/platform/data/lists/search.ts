import type { Conditions } from './conditions.js';
import {
  containing,
  containingNumber,
  earlierTermTextOf,
  FOLDED_PATTERN,
  foldText,
} from './search-text.js';

/** A trigram in every locale. Without one, PostgreSQL would read the whole index. */
const TRIGRAM = /[a-z0-9]{3}/;

/** A sequence of digits that few records share. */
const LONG_NUMBER = /[0-9]{5,}/;

/** The local part of an e-mail address. Many addresses share the domain. */
const LOCAL_PART = /^[^@]{4,}@/;

/** The only space of a term before an `@`: a plus that the query string of a caller has not encoded. */
const SPACE_BEFORE_AT = /^([^ @]+) ([^ @]*@.*)$/s;

/** The text was written with the earlier fold. */
const IS_EARLIER = `search_text collate "C" not like ${FOLDED_PATTERN}`;

/**
 * Selects records whose `search_text` contains a term. Both are folded (`foldText`), and special characters
 * have no meaning. Until records of an earlier version are folded again, the earlier fold is searched in them.
 * @param numbers forms of a term that can be read as a number: records whose numbers contain one of
 *   them match, too
 */
export function addSearch(
  conditions: Conditions,
  term: string | undefined,
  numbers: readonly string[] = [],
): void {
  if (term === undefined) return;
  const clauses = clausesOf(new SearchSql(conditions), term, numbers);
  conditions.search(`(${clauses.join(' or ')})`);
}

/** SQL conditions of the records that are found, of which one is enough. */
function clausesOf(sql: SearchSql, term: string, numbers: readonly string[]): string[] {
  const text = foldText(term);
  const [digits = '', ...others] = text.match(/[0-9]+/g) ?? [];
  if (numbers.length === 0) {
    const texts = spellingsOf(text);
    const earlier = spellingsOf(earlierTermTextOf(term)).filter((one) => !texts.includes(one));
    return [
      ...texts.map((spelling) => sql.contains(spelling)),
      ...earlier.map((spelling) => `(${IS_EARLIER} and ${sql.contains(spelling)})`),
    ];
  }
  // Strings with separated digits are indexed as numbers.
  if (others.length > 0) return sql.hasNumber(numbers);
  return sql.containsOrHasNumber(text, numbers, digits);
}

function spellingsOf(text: string): string[] {
  return SPACE_BEFORE_AT.test(text) ? [text, text.replace(SPACE_BEFORE_AT, '$1+$2')] : [text];
}

/** Conditions on `search_text`, with their parameters. */
class SearchSql {
  constructor(private readonly conditions: Conditions) {}

  contains(text: string): string {
    const part = selectivePart(text);
    if (part === undefined) return this.byRow([containing(text)]);
    if (part === text) return this.byIndex(containing(text));
    return this.byIndexAndRow(containing(part), [containing(text)]);
  }

  hasNumber(numbers: readonly string[]): string[] {
    return numbers.map((number) => this.byIndex(containingNumber(number)));
  }

  /**
   * Records that contain the term, or one of its forms as a number. The index looks up the digits alone, which finds
   * candidates for the term and for most numbers. Each candidate is then compared with all patterns.
   * @param digits the digits of the term, which are adjacent
   */
  containsOrHasNumber(text: string, numbers: readonly string[], digits: string): string[] {
    // A record whose number contains the whole term matches the pattern of the term already.
    const alike = numbers.filter((number) => number.includes(digits) && !number.includes(text));
    const patterns = [containing(text), ...alike.map(containingNumber)];
    const candidates =
      digits === text
        ? this.byIndex(containing(text))
        : this.byIndexAndRow(containing(digits), patterns);
    return [candidates, ...this.hasNumber(numbers.filter((number) => !number.includes(digits)))];
  }

  private byIndexAndRow(pattern: string, patterns: readonly string[]): string {
    return `(${this.byIndex(pattern)} and ${this.byRow(patterns)})`;
  }

  private byIndex(pattern: string): string {
    return `search_text like ${this.conditions.parameter(pattern)}`;
  }

  /** Uses another collation than the index, because the index would be slower than reading each row. */
  private byRow(patterns: readonly string[]): string {
    const clauses = patterns.map(
      (pattern) => `search_text collate "C" like ${this.conditions.parameter(pattern)}`,
    );
    return `(${clauses.join(' or ')})`;
  }
}

/**
 * The part of a term that the index looks up. Every trigram costs a lookup, and common ones are slow.
 * @returns undefined if reading each record is faster
 */
function selectivePart(term: string): string | undefined {
  const part = LONG_NUMBER.exec(term)?.[0] ?? LOCAL_PART.exec(term)?.[0];
  return [part, term].find((text) => text !== undefined && TRIGRAM.test(text));
}
