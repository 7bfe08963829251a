import { codePointName, SPACE, withAsciiDigits, withoutInvisible } from './characters.js';

const SEPARATOR = String.raw`[ +\-.()/#;,xX]|[eE][xX][tT]=?`;

/** A part of a phone number as `plainPhone` writes it, by RFC 3966 (`;ext=`) or as people do. */
const PART = new RegExp(String.raw`${SEPARATOR}|\d`, 'g');

const WORD_OR_CHARACTER = /[\p{L}\p{M}]+|[^ ]/u;

const MIN_DIGITS = 3;

/** Description of the characters of phone numbers. */
export const PHONE_CHARACTERS =
  'digits, spaces, `+-.()/#;,` and an extension (`x`, `ext`, `extension`)';

const ASCII = /^\p{ASCII}*$/u;
const SPACES = new RegExp(`[${SPACE}]`, 'gu');
const OTHER_SYMBOLS = /[^\p{ASCII}\p{N}]+/gu;
const DASHES = /[\p{Pd}\u02d7\u2043\u2212\u30fc]/gu;
const DOTS = /[\u00b7\u2022\u2027\u22c5\u30fb]/g;
const SLASHES = /[\u2044\u2215]/g;
const PREFIX = /^ *tel(?!\p{L})[.: ]*/iu;
const EXTENSION =
  /(?<=\d.*?)[ ,;]*(?:ext(?:n|ensi[oó]n)?|xtn|int|anexo|доб)[ .:=#-]*(?=\d+ *\)?$)/iu;

/**
 * Writes a phone number from a web page, a spreadsheet or an address book in ASCII: digits of any script,
 * kinds of spaces and dashes, full-width and invisible characters, `tel:` and the words for an extension.
 */
export function plainPhone(text: string): string {
  const spaced = withoutInvisible(text).replaceAll(SPACES, ' ');
  const plain = ASCII.test(spaced) ? spaced : withAsciiSymbols(withAsciiDigits(spaced));
  return plain.replace(PREFIX, '').replace(EXTENSION, ' ext ').trim();
}

function withAsciiSymbols(text: string): string {
  return text
    .replaceAll(OTHER_SYMBOLS, (symbols) => symbols.normalize('NFKC'))
    .replaceAll(DASHES, '-')
    .replaceAll(DOTS, '.')
    .replaceAll(SLASHES, '/');
}

/** Whether a string is a phone number with at least 3 digits, in any spelling. */
export function isPhone(text: string): boolean {
  return phoneProblem(text) === undefined;
}

/** What is wrong with a phone number, if anything. */
export function phoneProblem(text: string): string | undefined {
  const plain = plainPhone(text);
  const [wrong] = WORD_OR_CHARACTER.exec(plain.replaceAll(PART, ' ')) ?? [];
  if (wrong !== undefined) {
    const shown = /^[\p{L}\p{N}\p{P}\p{S}]/u.test(wrong) ? `"${wrong}"` : codePointName(wrong);
    return `must not contain ${shown}; a phone number consists of ${PHONE_CHARACTERS.replaceAll('`', '')}`;
  }
  const digits = plain.match(/\d/g)?.length ?? 0;
  return digits < MIN_DIGITS ? `must have at least ${MIN_DIGITS} digits` : undefined;
}
