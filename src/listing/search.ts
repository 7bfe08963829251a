import type { Conditions } from './conditions.js';
import { containing, containingNumber, termTextOf } from './search-text.js';

/** Any locale makes a trigram of these; without one, the index would be read as a whole. */
const TRIGRAM = /[a-z0-9]{3}/;

/** So many digits in a row are a number that hardly any other record has. */
const LONG_NUMBER = /[0-9]{5,}/;

/** What stands before the domain of an e-mail address, which many share. */
const LOCAL_PART = /^[^@]{4,}@/;

/**
 * Only records whose `search_text` contains a term, without regard to case, its special characters
 * taken literally.
 * @param numbers of a term that reads as one, with its digits among them: records with one of these
 *   among their numbers are found as well
 */
export function addSearch(
  conditions: Conditions,
  term: string | undefined,
  numbers: readonly string[] = [],
): void {
  if (term === undefined) return;
  const clauses = new Clauses(conditions);
  const [digits = '', ...others] = term.match(/[0-9]+/g) ?? [];
  if (numbers.length === 0) clauses.contains(termTextOf(term));
  // The numbers have the separated digits of each text.
  else if (others.length > 0) clauses.hasNumber(numbers);
  else clauses.containsOrHasNumber(termTextOf(term), numbers, digits);
  conditions.search(clauses.sql);
}

/** Conditions of `search_text`, one of which must hold. */
class Clauses {
  private readonly clauses: string[] = [];

  constructor(private readonly conditions: Conditions) {}

  get sql(): string {
    return `(${this.clauses.join(' or ')})`;
  }

  contains(text: string): void {
    const part = selectivePart(text);
    if (part === text) this.clauses.push(this.byIndex(containing(text)));
    else if (part === undefined) this.clauses.push(this.byRow([containing(text)]));
    else this.clauses.push(this.byIndexAndRow(containing(part), [containing(text)]));
  }

  hasNumber(numbers: readonly string[]): void {
    this.clauses.push(...numbers.map((number) => this.byIndex(containingNumber(number))));
  }

  /** @param digits of the text, which are in a row: one look at the index is enough for both */
  containsOrHasNumber(text: string, numbers: readonly string[], digits: string): void {
    const alike = numbers.filter((number) => number.includes(digits) && !number.includes(text));
    const patterns = [containing(text), ...alike.map(containingNumber)];
    if (digits === text) this.clauses.push(this.byIndex(containing(text)));
    else this.clauses.push(this.byIndexAndRow(containing(digits), patterns));
    this.hasNumber(numbers.filter((number) => !number.includes(digits)));
  }

  private byIndexAndRow(pattern: string, patterns: readonly string[]): string {
    return `(${this.byIndex(pattern)} and ${this.byRow(patterns)})`;
  }

  private byIndex(pattern: string): string {
    return `search_text like ${this.conditions.parameter(pattern)}`;
  }

  /** In another collation than the index, which would be slower than a look at each row. */
  private byRow(patterns: readonly string[]): string {
    const clauses = patterns.map(
      (pattern) => `search_text collate "C" like ${this.conditions.parameter(pattern)}`,
    );
    return `(${clauses.join(' or ')})`;
  }
}

/**
 * The part of a term by which the index finds it: each of its trigrams is looked up, which takes the
 * longer the more records have it. Undefined where a look at each record is faster.
 */
function selectivePart(term: string): string | undefined {
  const part = LONG_NUMBER.exec(term)?.[0] ?? LOCAL_PART.exec(term)?.[0];
  return [part, term].find((text) => text !== undefined && TRIGRAM.test(text));
}
