import { LARGEST_INTEGER } from '../kinds/json-object.js';

export const BIG_NUMBER = `must not contain a number beyond ±${LARGEST_INTEGER}`;

const LARGEST_DIGITS = String(LARGEST_INTEGER);

/**
 * Whether a number is larger than `LARGEST_INTEGER`, in any notation. The nearest doubles of such numbers
 * are integers, which lose digits. Other numbers are rounded to the nearest double.
 * @param number a number without its sign
 */
export function isOutOfRange(number: string): boolean {
  const nearest = Number(number);
  if (nearest !== LARGEST_INTEGER) return nearest > LARGEST_INTEGER;
  // The number is so close that its integer part has the same length. Compare the digits as text.
  const [mantissa = ''] = number.split(/e/i);
  const digits = mantissa.replace('.', '').replace(/^0+/, '');
  const whole = digits.slice(0, LARGEST_DIGITS.length);
  if (whole !== LARGEST_DIGITS) return whole > LARGEST_DIGITS;
  return /[1-9]/.test(digits.slice(whole.length));
}
