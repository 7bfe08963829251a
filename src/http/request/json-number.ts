import { LARGEST_INTEGER } from '../../fields/kinds/json-object.js';

const LARGEST_DIGITS = String(LARGEST_INTEGER);

/**
 * Whether a number is an integer that is larger than `LARGEST_INTEGER`, or larger than any double.
 * Other numbers are rounded to the nearest double.
 * @param number a JSON number without its sign
 */
export function isOutOfRange(number: string): boolean {
  const nearest = Number(number);
  if (nearest < LARGEST_INTEGER) return false;
  if (nearest === Infinity) return true;
  if (!isInteger(number)) return false;
  if (nearest !== LARGEST_INTEGER) return true;
  // The number is so close that its integer part has the same length. Compare the digits as text.
  const [mantissa = ''] = number.split(/e/i);
  const digits = mantissa.replace('.', '').replace(/^0+/, '');
  const whole = digits.slice(0, LARGEST_DIGITS.length);
  if (whole !== LARGEST_DIGITS) return whole > LARGEST_DIGITS;
  return /[1-9]/.test(digits.slice(whole.length));
}

/** Whether all digits after the decimal point are zeros, once the exponent is applied. */
function isInteger(number: string): boolean {
  const [mantissa = '', exponent = '0'] = number.split(/e/i);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = whole + fraction;
  let last = digits.length - 1;
  while (digits[last] === '0') last--;
  return last < whole.length + Number(exponent);
}
