const SURROGATE = /[\ud800-\udfff]/;
const SURROGATE_PAIR = /[\ud800-\udbff][\udc00-\udfff]/g;

/** The length in Unicode code points, which is how every limit of the API counts. */
export function codePointLength(text: string): number {
  if (!SURROGATE.test(text)) return text.length;
  return text.length - (text.match(SURROGATE_PAIR)?.length ?? 0);
}

/** Whether the text can be stored and returned as it is: no lone surrogates and no `\u0000`. */
export function isWellFormedText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

/** Something else than white space and characters that are invisible by definition. */
const SHOWS_SOMETHING = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}]/u;

/**
 * White space, and the invisible characters that mean nothing at an end: zero width space, word
 * joiner and byte order mark. Others do: a joiner shapes a letter, a variation selector an emoji.
 */
const BLANK = /[\s\u0085\u200b\u2060]/;
const FIRST_BLANK_BEYOND_TRIM = '\u0085';

/** Takes white space off both ends; nothing is left of a text that shows nothing. */
export function trimText(text: string): string {
  if (!SHOWS_SOMETHING.test(text)) return '';
  const trimmed = text.trim();
  const [first = '', last = ''] = [trimmed.at(0), trimmed.at(-1)];
  if (first < FIRST_BLANK_BEYOND_TRIM && last < FIRST_BLANK_BEYOND_TRIM) return trimmed;
  let [start, end] = [0, trimmed.length];
  while (BLANK.test(trimmed.charAt(start))) start++;
  while (BLANK.test(trimmed.charAt(end - 1))) end--;
  return trimmed.slice(start, end);
}
