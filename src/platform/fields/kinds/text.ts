/** Classes of characters, for use between brackets in regular expressions with the flag `u`. */

/** White space of every kind, line breaks and the blank pattern of Braille included. */
export const SPACE = String.raw`\p{White_Space}\u2800`;

/** Format characters, such as bidirectional marks, and others that show nothing. */
export const INVISIBLE = String.raw`\p{Cf}\p{Default_Ignorable_Code_Point}`;

const SURROGATE = /[\ud800-\udfff]/;

/** The length in Unicode code points. All limits of the API use it. */
export function codePointLength(text: string): number {
  const first = text.search(SURROGATE);
  if (first < 0) return text.length;
  let length = first;
  for (let at = first; at < text.length; length++) {
    at += (text.codePointAt(at) ?? 0) > LAST_SINGLE_UNIT ? 2 : 1;
  }
  return length;
}

/** The last code point that is one unit of UTF-16. */
const LAST_SINGLE_UNIT = 0xffff;

/** Whether PostgreSQL can store the string: it has no lone surrogates and no `\u0000`. */
export function isWellFormedText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** The message for other strings. */
export const NOT_WELL_FORMED = 'must not contain NUL or unpaired surrogates';

/** A character that is neither white space nor invisible by definition. */
const SHOWS_SOMETHING = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}]/u;

/**
 * White space, and invisible characters without meaning at the end of a string: zero width space, word
 * joiner and byte order mark. Other invisible characters shape letters or emoji and are kept.
 */
const BLANK = /[\s\u0085\u200b\u2060]/;
/** All characters of `BLANK` below this one are removed by `String.trim()`. */
const FIRST_BLANK_BEYOND_TRIM = '\u0085';

/** Trims white space at both ends. A string without visible characters becomes empty. */
export function trimText(text: string): string {
  if (!SHOWS_SOMETHING.test(text)) return '';
  const trimmed = text.trim();
  const [first = '', last = ''] = [trimmed.at(0), trimmed.at(-1)];
  if (first < FIRST_BLANK_BEYOND_TRIM && last < FIRST_BLANK_BEYOND_TRIM) return trimmed;
  return trimEnds(trimmed, BLANK);
}

const SPACE_OR_INVISIBLE = new RegExp(`[${SPACE}${INVISIBLE}]`, 'u');

/** Trims white space and invisible characters at both ends, such as bidirectional marks. */
export function trimInvisible(text: string): string {
  return trimEnds(text, SPACE_OR_INVISIBLE);
}

const SPACE_OR_CONTROL = new RegExp(`[${SPACE}${INVISIBLE}\\p{Cc}]`, 'u');
const IS_SPACE = new RegExp(`[${SPACE}]`, 'u');

/** The message for a text with white space or characters that show nothing, if it has any. */
export function spaceOrInvisibleProblem(text: string): string | undefined {
  const [found] = SPACE_OR_CONTROL.exec(text) ?? [];
  if (found === undefined) return undefined;
  const kind = IS_SPACE.test(found) ? 'a space' : 'an invisible character';
  return `must not contain ${kind} (${codePointName(found)})`;
}

const ALL_INVISIBLE = new RegExp(`[${INVISIBLE}]`, 'gu');

/** Removes the characters that show nothing. */
export function withoutInvisible(text: string): string {
  return text.replaceAll(ALL_INVISIBLE, '');
}

const OTHER_DIGIT = /(?![0-9])\p{Nd}/gu;
const DIGIT = /^\p{Nd}$/u;

/** Replaces the decimal digits of every script by those of ASCII. */
export function withAsciiDigits(text: string): string {
  return text.replaceAll(OTHER_DIGIT, (digit) => String(digitValue(digit.codePointAt(0) ?? 0)));
}

/** The ASCII digits of a string without other characters. */
export function digitsOf(text: string): string {
  return text.replaceAll(/[^0-9]/g, '');
}

/** Unicode encodes decimal digits in sequences of ten, from zero to nine. */
function digitValue(codePoint: number): number {
  let first = codePoint;
  while (DIGIT.test(String.fromCodePoint(first - 1))) first--;
  return (codePoint - first) % 10;
}

/** The name of a code point, such as `U+200B`. */
export function codePointName(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).toUpperCase();
  return `U+${hex.padStart(4, '0')}`;
}

/** Removes the characters at both ends that the expression matches. */
export function trimEnds(text: string, removed: RegExp): string {
  let [start, end] = [0, text.length];
  while (start < end) {
    const first = String.fromCodePoint(text.codePointAt(start) ?? 0);
    if (!removed.test(first)) break;
    start += first.length;
  }
  while (end > start) {
    const last = lastCharacter(text, end);
    if (!removed.test(last)) break;
    end -= last.length;
  }
  return text.slice(start, end);
}

function lastCharacter(text: string, end: number): string {
  const pair = text.slice(Math.max(0, end - 2), end);
  return (pair.codePointAt(0) ?? 0) > 0xffff ? pair : text.slice(end - 1, end);
}
