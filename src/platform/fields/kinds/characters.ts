/** Classes of characters, for use between brackets in regular expressions with the flag `u`. */

/** White space of every kind, line breaks and the blank pattern of Braille included. */
export const SPACE = String.raw`\p{White_Space}\u2800`;

/** Format characters, such as bidirectional marks, and others that show nothing. */
export const INVISIBLE = String.raw`\p{Cf}\p{Default_Ignorable_Code_Point}`;

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
