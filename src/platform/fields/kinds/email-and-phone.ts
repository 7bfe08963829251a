// E-mail addresses and phone numbers: what is wrong with them, and the forms in which they are compared.
import { domainToASCII } from 'node:url';
import { isEmail } from 'class-validator';
import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js';
import {
  codePointName,
  digitsOf,
  SPACE,
  spaceOrInvisibleProblem,
  withAsciiDigits,
  withoutInvisible,
} from './text.js';

const ASCII = /^\p{ASCII}*$/u;

/** What is wrong with an e-mail address, if anything. */
export function emailProblem(text: string): string | undefined {
  if (isEmail(text)) return undefined;
  return spaceOrInvisibleProblem(text) ?? 'must be a valid e-mail address';
}

/** Normalizes an e-mail address for comparison: visible, lower case, NFC, and the domain in ASCII (IDNA). */
export function normalizeEmail(email: string): string {
  const lower = withoutInvisible(email).trim().toLowerCase();
  if (ASCII.test(lower)) return lower;
  const composed = lower.normalize('NFC');
  const at = composed.lastIndexOf('@') + 1;
  const domain = composed.slice(at);
  return composed.slice(0, at) + (domainToASCII(domain) || domain);
}

/** A word or a character of a phone number in ASCII, and those that it can have: by RFC 3966 also `;ext=`. */
const PART = /[\p{L}\p{M}]+=?|./gsu;
const VALID_PART = /^(?:(?:x|ext=?)+|[\d +\-.()/#;,])$/i;

const MIN_DIGITS = 3;

/** Description of the characters of phone numbers. */
export const PHONE_CHARACTERS =
  'digits, spaces, `+-.()/#;,` and an extension (`x`, `ext`, `extension`)';

const SPACES = new RegExp(`[${SPACE}]`, 'gu');
const OTHER_SYMBOLS = /[^\p{ASCII}\p{N}]+/gu;
const DASHES = /[\p{Pd}\u02d7\u2043\u2212\u30fc]/gu;
const DOTS = /[\u00b7\u2022\u2027\u22c5\u30fb]/g;
const SLASHES = /[\u2044\u2215]/g;
/** An apostrophe, by which spreadsheets mark text, a telephone sign and `tel:`. */
const PREFIX = /^[ '’]*(?:[☎☏✆📞📱] *)?(?:tel(?!\p{L})[.: ]*)?/iu;
const EXTENSION = /[ ,;]{0,3}(?:ext(?:n|ensi[oó]n)?|xtn|int|anexo|доб)[ .:=#-]*(?=\d+ *\)?$)/iu;

/**
 * Writes a phone number from a web page, a spreadsheet or an address book in ASCII: digits of any script,
 * kinds of spaces and dashes, full-width and invisible characters, `tel:` and the words for an extension.
 */
export function plainPhone(text: string): string {
  const spaced = withoutInvisible(text).replaceAll(SPACES, ' ');
  const plain = ASCII.test(spaced) ? spaced : withAsciiSymbols(withAsciiDigits(spaced));
  return withExtension(plain.replace(PREFIX, '')).trim();
}

/** Writes the words for an extension, which follow a number, as `ext`. */
function withExtension(text: string): string {
  return text.replace(EXTENSION, (words, at: number) => {
    return /\d/.test(text.slice(0, at)) ? ' ext ' : words;
  });
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
  const wrong = plain.match(PART)?.find((part) => !VALID_PART.test(part));
  if (wrong !== undefined) {
    const shown = /^[\p{L}\p{N}\p{P}\p{S}]/u.test(wrong) ? `"${wrong}"` : codePointName(wrong);
    return `must not contain ${shown}; a phone number consists of ${PHONE_CHARACTERS.replaceAll('`', '')}`;
  }
  const digits = plain.match(/\d/g)?.length ?? 0;
  return digits < MIN_DIGITS ? `must have at least ${MIN_DIGITS} digits` : undefined;
}

/** A phone number without its formatting. */
export interface ParsedPhone {
  /** E.164, followed by `x` and the extension if there is one; the digits if the number cannot be parsed. */
  readonly normalized: string;
  /** The digits as they were entered. */
  readonly digits: string;
  /** The digits of the national format, if they are not a suffix of E.164. */
  readonly nationalDigits?: string;
}

/** @param region of numbers without a country code, ISO 3166-1 alpha-2 */
export function parsePhone(phone: string, region: string): ParsedPhone {
  const plain = plainPhone(phone);
  const digits = digitsOf(plain);
  const parsed = parseIfPossible(plain, region);
  if (!parsed) return { normalized: digits, digits };
  const normalized = parsed.ext ? `${parsed.number}x${parsed.ext}` : parsed.number;
  if (parsed.countryCallingCode === '1') return { normalized, digits };
  return { normalized, digits, nationalDigits: digitsOf(parsed.formatNational()) };
}

/** Reads `00` as `+` if the region does not parse it, because many countries use it as the international prefix. */
function parseIfPossible(phone: string, region: string) {
  const spellings = /^\D*00/.test(phone) ? [phone, phone.replace(/^\D*00/, '+')] : [phone];
  for (const spelling of spellings) {
    const parsed = parsePhoneNumberFromString(spelling, region as CountryCode);
    if (parsed?.isPossible()) return parsed;
  }
  return undefined;
}
