import { codePointName, INVISIBLE, SPACE, trimEnds } from './characters.js';

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
