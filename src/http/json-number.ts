/** 2^53: the last integer before doubles leave some out. */
export const LARGEST_INTEGER = 2 ** 53;
const LARGEST_DIGITS = String(LARGEST_INTEGER);

/** Judges what a number without its sign stands for, however it is written. */
export function isBeyondLargest(number: string): boolean {
  const nearest = Number(number);
  if (nearest !== LARGEST_INTEGER) return nearest > LARGEST_INTEGER;
  // What is so near has as many digits before its fraction, so they can be compared from the first.
  const [mantissa = ''] = number.split(/e/i);
  const digits = mantissa.replace('.', '').replace(/^0+/, '');
  const whole = digits.slice(0, LARGEST_DIGITS.length);
  if (whole !== LARGEST_DIGITS) return whole > LARGEST_DIGITS;
  return /[1-9]/.test(digits.slice(whole.length));
}
