const ASCII = /^\p{ASCII}*$/u;

/**
 * Folds the case of a string for comparisons, independently of locales: NFC, then lower case of upper case
 * of lower case by Unicode. Each letter gets one form: `ς` becomes `σ`, `ß` and `ẞ` become `ss`, and `ſ`
 * becomes `s`. Dotted and dotless I become `i`, because languages pair them differently. Accents stay.
 */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const upper = text.normalize('NFC').toLowerCase().toUpperCase().normalize('NFC');
  return upper.replaceAll('İ', 'I').toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}
