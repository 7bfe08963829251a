import { digitsOf, withAsciiDigits, withoutInvisible } from '../../fields/kinds/text.js';

/** Begins search texts that `foldText` has folded. Those of version 0.2 and of the trigger lack it. */
const FOLDED = '\x02';

/**
 * Begins search texts that `foldText` has folded, of records that are to be written again: another record has their
 * compared e-mail or phone, so that they could not be stored.
 */
const TO_REWRITE = '\x03';

/** SQL patterns of the two. The index of records to write again has the condition `not like FOLDED_PATTERN`. */
export const FOLDED_PATTERN = String.raw`E'\x02%'`;
export const TO_REWRITE_PATTERN = String.raw`E'\x03%'`;

/** Separates the parts of a search text, so that no term matches across them. */
const PART_SEPARATOR = '\x1f';

/** Precedes the numbers of a search text, which are its last parts. */
const BEFORE_NUMBERS = '\x1e';

const SEPARATORS = /[\x1e\x1f]/g; // oxlint-disable-line no-control-regex

/** Search texts are indexed, and PostgreSQL rejects index entries of more than 2,704 bytes. */
const MAX_BYTES = 2_600;

/** Digits with other characters between them. */
const SEPARATED_DIGITS = /[0-9][^0-9]+[0-9]/;

/** The values of a record that searches use. */
interface Searchable {
  /** Strings that match if they contain the term, the most important first. */
  readonly texts: readonly (string | null | undefined)[];
  /** Digits that match if they contain the digits of the term, ignoring its other characters. */
  readonly numbers: readonly string[];
}

/**
 * The search text of a record. If case folding makes it longer than an index allows, the end of the
 * last string is cut off. This takes hundreds of unusual characters.
 */
export function searchTextOf({ texts, numbers }: Searchable): string {
  const folded = texts.filter((text) => typeof text === 'string').map(foldText);
  // A term with separated digits is then searched in the numbers only.
  const others = folded.filter((text) => SEPARATED_DIGITS.test(text)).map(digitsOf);
  const all = withoutParts([...numbers, ...others]).join(PART_SEPARATOR);
  const words = FOLDED + folded.join(PART_SEPARATOR);
  return cut(words, MAX_BYTES - all.length - 1) + BEFORE_NUMBERS + all;
}

/** Whether a search text was folded, and is not to be written again. */
export function isFolded(text: string): boolean {
  return text.startsWith(FOLDED);
}

/** The same search text of a record that is to be written again. */
export function markToRewrite(text: string): string {
  return TO_REWRITE + text.slice(FOLDED.length);
}

/** The form of a term in search texts of version 0.2. */
export function earlierTermTextOf(term: string): string {
  return foldCase(term).replaceAll(SEPARATORS, ' ');
}

/** LIKE pattern of strings that contain a term. */
export function containing(term: string): string {
  return `%${term.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
}

/** LIKE pattern of search texts whose numbers contain these digits. */
export function containingNumber(digits: string): string {
  return `%${BEFORE_NUMBERS}${containing(digits)}`;
}

/** Removes numbers that an earlier number contains. */
function withoutParts(numbers: readonly string[]): readonly string[] {
  return numbers.filter((number, index) => {
    return !numbers.slice(0, index).some((earlier) => earlier.includes(number));
  });
}

function cut(text: string, maxBytes: number): string {
  // A UTF-16 code unit has at most 3 bytes in UTF-8.
  if (text.length * 3 <= maxBytes) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(maxBytes));
  return text.slice(0, read);
}

const PLAIN = /^[\x21-\x7e]*(?: [\x21-\x7e]+)*$/;

/** Letters of an alphabet whose readers leave accents out. In other scripts, marks are letters. */
const ACCENTED = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]/u;
const ACCENT = /\p{M}/u;
const ACCENTS = new RegExp(`(?<=${ACCENTED.source})${ACCENT.source}+`, 'gu');

const SPACES = /[\p{Z}\p{Cc}\s\u2800]+/gu;
const APOSTROPHES = /[`´᾽‘’‚‛′‵ʹʻʼʽʾʿˈ]/g;
const QUOTES = /[“”„‟«»]/g;
const DASHES = /[\p{Pd}\u02d7\u2043\u2212]/gu;

/** Lower-case letters that Unicode does not decompose, with the letters that people type instead. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{ æ: 'ae', œ: 'oe', ø: 'o', ɵ: 'o', ł: 'l', ƚ: 'l', ɫ: 'l', đ: 'd', ð: 'd', ɖ: 'd', ɗ: 'd' },
  ...{ þ: 'th', ħ: 'h', ŋ: 'n', ɲ: 'n', ŧ: 't', ƭ: 't', ʈ: 't', ƀ: 'b', ɓ: 'b', ƈ: 'c', ȼ: 'c' },
  ...{ ə: 'e', ǝ: 'e', ɛ: 'e', ɇ: 'e', ƒ: 'f', ǥ: 'g', ɠ: 'g', ɣ: 'g', ɨ: 'i', ɩ: 'i', ı: 'i' },
  ...{ ȷ: 'j', ɉ: 'j', ĸ: 'k', ƙ: 'k', ⱪ: 'k', ɔ: 'o', ƥ: 'p', ɍ: 'r', ȿ: 's', ʉ: 'u', ʋ: 'v' },
  ...{ ƴ: 'y', ɏ: 'y', ƶ: 'z', ȥ: 'z', ⱥ: 'a', ⱡ: 'l', ⱦ: 't' },
};
const UNDECOMPOSED = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'gu');

/** The tables of `foldText`, from which `scripts/fold-function.mjs` writes the function `latitude_fold` of PostgreSQL. */
export const FOLD_TABLES = { ACCENTED, ACCENT, SPACES, APOSTROPHES, QUOTES, DASHES, LETTERS };

/**
 * Folds a string for searches, independently of locales. Strings that people take for the same become equal:
 * in another case or width, without the accents of Latin, Greek and Cyrillic letters, with other apostrophes,
 * quotes, dashes, digits or spaces, or with invisible characters.
 */
export function foldText(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase().replaceAll('`', "'");
  const visible = withoutInvisible(text).normalize('NFC');
  // Compatibility decomposition turns some apostrophes into a space and an accent.
  const folded = foldLetters(visible.replace(APOSTROPHES, "'").normalize('NFKD'))
    .normalize('NFKD')
    .replace(ACCENTS, '')
    .replace(UNDECOMPOSED, (letter) => LETTERS[letter] ?? letter)
    .replace(APOSTROPHES, "'")
    .replace(QUOTES, '"')
    .replace(DASHES, '-')
    .replace(SPACES, ' ');
  return withAsciiDigits(folded).normalize('NFC');
}

/** Lower case of upper case of lower case, so that each letter has one form: both sigmas, and `ß` and `ss`. */
function foldLetters(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}

const ASCII = /^\p{ASCII}*$/u;

/**
 * Folds only the case, as version 0.2 wrote search texts. It finds records whose text is not yet written
 * again with `foldText`.
 */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const upper = text.normalize('NFC').toLowerCase().toUpperCase().normalize('NFC');
  return upper.replaceAll('İ', 'I').toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}
