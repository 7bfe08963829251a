import { normalizeEmail, parsePhone } from '../../fields/kinds/email-and-phone.js';
import { digitsOf } from '../../fields/kinds/text.js';
import { foldText } from '../lists/search-text.js';
import type { FilterField } from './filter-target.js';

/**
 * The form in which `eq` and `in` compare a text: that of the column `comparedColumn` for e-mails and phones.
 * @param region of phone numbers without a country code
 */
export function normalFormOf({ kind }: FilterField, text: string, region: string): string {
  if (kind === 'email') return normalizeEmail(text);
  return kind === 'phone' ? parsePhone(text, region).normalized : text;
}

/** The form in which `contains` and `starts_with` compare a text: folded, and of phones the digits. */
export function searchFormOf({ kind }: FilterField, text: string): string {
  const folded = foldText(text);
  return kind === 'phone' ? digitsOf(folded) : folded;
}
