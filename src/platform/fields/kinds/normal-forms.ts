// The forms in which e-mail addresses and phone numbers are compared.
import { domainToASCII } from 'node:url';
import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js';
import { plainPhone } from './phone.js';
import { digitsOf, withoutInvisible } from './text.js';

const ASCII = /^\p{ASCII}*$/u;

/** Normalizes an e-mail address for comparison: visible, lower case, NFC, and the domain in ASCII (IDNA). */
export function normalizeEmail(email: string): string {
  const lower = withoutInvisible(email).trim().toLowerCase();
  if (ASCII.test(lower)) return lower;
  const composed = lower.normalize('NFC');
  const at = composed.lastIndexOf('@') + 1;
  const domain = composed.slice(at);
  return composed.slice(0, at) + (domainToASCII(domain) || domain);
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
