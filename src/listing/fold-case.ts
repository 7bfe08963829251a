const ASCII = /^\p{ASCII}*$/u;

/**
 * The form in which texts are compared without regard to case, whatever the locale of PostgreSQL or
 * of the process: NFC, then lower case of upper case of lower case, by Unicode. So one letter has one
 * form: `ς` is `σ`, `ß` and `ẞ` are `ss`, and `ſ` is `s`. Dotted and dotless I are `i`, because
 * Turkish and other languages pair them differently. Accents count.
 */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const upper = text.normalize('NFC').toLowerCase().toUpperCase().normalize('NFC');
  return upper.replaceAll('İ', 'I').toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}
