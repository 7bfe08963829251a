import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js';

/** The form in which two e-mail addresses are the same (decisions 3). */
export function comparedEmail(email: string): string {
  return email.trim().toLowerCase();
}

/**
 * The form in which two phone numbers are the same: E.164 where the number can be read, its digits
 * otherwise (decisions 3).
 * @param region where numbers without a country code belong, ISO 3166-1 alpha-2
 */
export function comparedPhone(phone: string, region: string): string {
  const parsed = parsePhoneNumberFromString(phone, region as CountryCode);
  return parsed?.isPossible() ? parsed.number : phone.replaceAll(/\D/g, '');
}
