import type { Conditions } from './conditions.js';
import { foldText } from './fold-text.js';
import { containing, containingNumber, earlierTermTextOf, FOLDED_PATTERN } from './search-text.js';

/** A trigram in every locale. Without one, PostgreSQL would read the whole index. */
const TRIGRAM = /[a-z0-9]{3}/;

/** A sequence of digits that few records share. */
const LONG_NUMBER = /[0-9]{5,}/;

/** The local part of an e-mail address. Many addresses share the domain. */
const LOCAL_PART = /^[^@]{4,}@/;

/** The only space of a term before an `@`: a plus that the query string of a caller has not encoded. */
const SPACE_BEFORE_AT = /^([^ @]+) ([^ @]*@.*)$/s;

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
  const clauses = new Clauses(conditions);
  const text = foldText(term);
  const [digits = '', ...others] = text.match(/[0-9]+/g) ?? [];
  if (numbers.length === 0) {
    const texts = spellingsOf(text);
    for (const spelling of texts) clauses.contains(spelling);
    const earlier = spellingsOf(earlierTermTextOf(term));
    clauses.earlierContains(earlier.filter((spelling) => !texts.includes(spelling)));
  }
  // Strings with separated digits are indexed as numbers.
  else if (others.length > 0) clauses.hasNumber(numbers);
  else clauses.containsOrHasNumber(text, numbers, digits);
  conditions.search(clauses.sql);
}

function spellingsOf(text: string): string[] {
  return SPACE_BEFORE_AT.test(text) ? [text, text.replace(SPACE_BEFORE_AT, '$1+$2')] : [text];
}

/** Conditions on `search_text`, joined by OR. */
class Clauses {
  private readonly clauses: string[] = [];

  constructor(private readonly conditions: Conditions) {}

  get sql(): string {
    return `(${this.clauses.join(' or ')})`;
  }

  contains(text: string): void {
    this.clauses.push(this.containing(text));
  }

  /** Records whose text was written with the earlier fold and contains one of these. */
  earlierContains(texts: readonly string[]): void {
    const isEarlier = `search_text collate "C" not like ${FOLDED_PATTERN}`;
    this.clauses.push(...texts.map((text) => `(${isEarlier} and ${this.containing(text)})`));
  }

  hasNumber(numbers: readonly string[]): void {
    this.clauses.push(...numbers.map((number) => this.byIndex(containingNumber(number))));
  }

  /**
   * Records that contain the term, or one of its forms as a number. The index looks up the digits alone, which finds
   * candidates for the term and for most numbers. Each candidate is then compared with all patterns.
   * @param digits the digits of the term, which are adjacent
   */
  containsOrHasNumber(text: string, numbers: readonly string[], digits: string): void {
    // A record whose number contains the whole term matches the pattern of the term already.
    const alike = numbers.filter((number) => number.includes(digits) && !number.includes(text));
    const patterns = [containing(text), ...alike.map(containingNumber)];
    if (digits === text) this.clauses.push(this.byIndex(containing(text)));
    else this.clauses.push(this.byIndexAndRow(containing(digits), patterns));
    this.hasNumber(numbers.filter((number) => !number.includes(digits)));
  }

  private containing(text: string): string {
    const part = selectivePart(text);
    if (part === undefined) return this.byRow([containing(text)]);
    if (part === text) return this.byIndex(containing(text));
    return this.byIndexAndRow(containing(part), [containing(text)]);
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
