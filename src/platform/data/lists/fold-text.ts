import { withAsciiDigits, withoutInvisible } from '../../fields/kinds/characters.js';

const PLAIN = /^[\x21-\x7e]*(?: [\x21-\x7e]+)*$/;

/** Accents after a letter of an alphabet whose readers leave them out. In other scripts, marks are letters. */
const ACCENTS = /(?<=[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}])\p{M}+/gu;

const SPACES = /[\p{Z}\p{Cc}\s\u2800]+/gu;
const APOSTROPHES = /[`´᾽‘’‚‛′‵ʹʻʼʽʾʿˈ]/g;
const QUOTES = /[“”„‟«»]/g;
const DASHES = /[\p{Pd}\u02d7\u2043\u2212]/gu;

/** Lower-case letters that Unicode does not decompose, with the letters that people type instead. */
const LETTERS: Readonly<Record<string, string>> = {
  ...{ æ: 'ae', œ: 'oe', ø: 'o', ɵ: 'o', ł: 'l', ƚ: 'l', ɫ: 'l', đ: 'd', ð: 'd', ɖ: 'd', ɗ: 'd' },
  ...{ þ: 'th', ħ: 'h', ŋ: 'n', ɲ: 'n', ŧ: 't', ƭ: 't', ʈ: 't', ƀ: 'b', ɓ: 'b', ƈ: 'c', ȼ: 'c' },
  ...{ ə: 'e', ǝ: 'e', ɛ: 'e', ɇ: 'e', ƒ: 'f', ǥ: 'g', ɠ: 'g', ɣ: 'g', ɨ: 'i', ɩ: 'i', ı: 'i' },
  ...{ ȷ: 'j', ɉ: 'j', ĸ: 'k', ƙ: 'k', ⱪ: 'k', ɔ: 'o', ƥ: 'p', ɍ: 'r', ȿ: 's', ʉ: 'u', ʋ: 'v' },
  ...{ ƴ: 'y', ɏ: 'y', ƶ: 'z', ȥ: 'z', ⱥ: 'a', ⱡ: 'l', ⱦ: 't' },
};
const UNDECOMPOSED = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'gu');

/**
 * Folds a string for searches, independently of locales. Strings that people take for the same become equal:
 * in another case or width, without the accents of Latin, Greek and Cyrillic letters, with other apostrophes,
 * quotes, dashes, digits or spaces, or with invisible characters.
 */
export function foldText(text: string): string {
  if (PLAIN.test(text)) return text.toLowerCase().replaceAll('`', "'");
  const visible = withoutInvisible(text).normalize('NFC');
  // Compatibility decomposition turns some apostrophes into a space and an accent.
  const folded = foldLetters(visible.replace(APOSTROPHES, "'").normalize('NFKD'))
    .normalize('NFKD')
    .replace(ACCENTS, '')
    .replace(UNDECOMPOSED, (letter) => LETTERS[letter] ?? letter)
    .replace(APOSTROPHES, "'")
    .replace(QUOTES, '"')
    .replace(DASHES, '-')
    .replace(SPACES, ' ');
  return withAsciiDigits(folded).normalize('NFC');
}

/** Lower case of upper case of lower case, so that each letter has one form: both sigmas, and `ß` and `ss`. */
function foldLetters(text: string): string {
  return text.toLowerCase().toUpperCase().toLowerCase().replaceAll('ς', 'σ');
}
