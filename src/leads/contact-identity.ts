import { domainToASCII } from 'node:url';
import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js';
import { digitsOf } from '../listing/search-text.js';

const ASCII = /^\p{ASCII}*$/u;

/**
 * The form in which two e-mail addresses are the same: trimmed, in lower case and NFC, and the domain
 * in ASCII by IDNA.
 */
export function normalizeEmail(email: string): string {
  const lower = email.trim().toLowerCase();
  if (ASCII.test(lower)) return lower;
  const composed = lower.normalize('NFC');
  const at = composed.lastIndexOf('@') + 1;
  const domain = composed.slice(at);
  return composed.slice(0, at) + (domainToASCII(domain) || domain);
}

/** A phone number without what people write between its digits. */
export interface ParsedPhone {
  /**
   * The form in which two phone numbers are the same: E.164 and `x` with the extension where the number
   * can be read, its digits otherwise.
   */
  readonly normalized: string;
  /** Its digits as they are given. */
  readonly digits: string;
  /** The digits that callers of the same country dial, where they are not the end of E.164. */
  readonly nationalDigits?: string;
}

/** @param region where numbers without a country code belong, ISO 3166-1 alpha-2 */
export function parsePhone(phone: string, region: string): ParsedPhone {
  const digits = digitsOf(phone);
  const parsed = parseIfPossible(phone, region);
  if (!parsed) return { normalized: digits, digits };
  const normalized = parsed.ext ? `${parsed.number}x${parsed.ext}` : parsed.number;
  if (parsed.countryCallingCode === '1') return { normalized, digits };
  return { normalized, digits, nationalDigits: digitsOf(parsed.formatNational()) };
}

/** Many countries dial abroad by `00`, so that it means `+` where the region reads it as nothing else. */
function parseIfPossible(phone: string, region: string) {
  const spellings = /^\D*00/.test(phone) ? [phone, phone.replace(/^\D*00/, '+')] : [phone];
  for (const spelling of spellings) {
    const parsed = parsePhoneNumberFromString(spelling, region as CountryCode);
    if (parsed?.isPossible()) return parsed;
  }
  return undefined;
}
