import { LARGEST_INTEGER } from '../../fields/json-object.js';

const LARGEST_DIGITS = String(LARGEST_INTEGER);

/**
 * Whether a number without its sign stands for an integer beyond 2^53, however it is written, or for
 * more than a double can hold. A fraction stands for the double that is nearest to it.
 */
export function exceedsExactRange(number: string): boolean {
  const nearest = Number(number);
  if (nearest < LARGEST_INTEGER) return false;
  if (nearest === Infinity) return true;
  if (!isInteger(number)) return false;
  if (nearest !== LARGEST_INTEGER) return true;
  // What is so near has as many digits before its fraction, so they can be compared from the first.
  const [mantissa = ''] = number.split(/e/i);
  const digits = mantissa.replace('.', '').replace(/^0+/, '');
  const whole = digits.slice(0, LARGEST_DIGITS.length);
  if (whole !== LARGEST_DIGITS) return whole > LARGEST_DIGITS;
  return /[1-9]/.test(digits.slice(whole.length));
}

/** Whether no digit but zeros stands behind the point, once the exponent has moved it. */
function isInteger(number: string): boolean {
  const [mantissa = '', exponent = '0'] = number.split(/e/i);
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = whole + fraction;
  let last = digits.length - 1;
  while (digits[last] === '0') last--;
  return last < whole.length + Number(exponent);
}
