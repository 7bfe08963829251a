import { foldCase } from './fold-case.js';

/** Keeps the parts of a search text apart; no term may span it. */
const PART_SEPARATOR = '\x1f';

/** Stands before the numbers of a search text, which are its last parts. */
const BEFORE_NUMBERS = '\x1e';

const SEPARATORS = /[\x1e\x1f]/g; // eslint-disable-line no-control-regex

/** An index holds search texts, and PostgreSQL refuses entries of more than 2,704 bytes. */
const MOST_BYTES = 2_600;

/** Digits with something else between some of them. */
const SEPARATED_DIGITS = /[0-9][^0-9]+[0-9]/;

/** What a record is found by. */
export interface Searchable {
  /** Texts of which a part is looked for, the most important first. */
  readonly texts: readonly (string | null | undefined)[];
  /** Digits of which a part is looked for, whatever is written between the digits of the term. */
  readonly numbers: readonly string[];
}

/**
 * The text that a table keeps of a record to be searched. Only text with hundreds of characters that
 * grow when they are folded is longer than an index allows: then the end of the last text is left out.
 */
export function searchTextOf({ texts, numbers }: Searchable): string {
  const given = texts.filter((text) => typeof text === 'string');
  const words = given.map(termTextOf).join(PART_SEPARATOR);
  // So that a term of separated digits has to be looked for among the numbers alone.
  const others = given.filter((text) => SEPARATED_DIGITS.test(text)).map(digitsOf);
  const all = withoutParts([...numbers, ...others]).join(PART_SEPARATOR);
  return cut(words, MOST_BYTES - all.length - 1) + BEFORE_NUMBERS + all;
}

/** A term as it stands in search texts. */
export function termTextOf(term: string): string {
  return foldCase(term).replaceAll(SEPARATORS, ' ');
}

/** A pattern of LIKE for texts that contain a term. */
export function containing(term: string): string {
  return `%${term.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

/** A pattern of LIKE for texts that contain digits among their numbers. */
export function containingNumber(digits: string): string {
  return `%${BEFORE_NUMBERS}${containing(digits)}`;
}

/** The digits of a text, without what is written between them. */
export function digitsOf(text: string): string {
  return text.replaceAll(/[^0-9]/g, '');
}

/** Numbers, none of which is a part of one before it. */
function withoutParts(numbers: readonly string[]): readonly string[] {
  return numbers.filter((number, index) => {
    return !numbers.slice(0, index).some((earlier) => earlier.includes(number));
  });
}

function cut(text: string, mostBytes: number): string {
  // No character has more bytes in UTF-8.
  if (text.length * 3 <= mostBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(mostBytes));
  return text.slice(0, read);
}
