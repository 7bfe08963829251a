const ASCII = /^\p{ASCII}*$/u;

/**
 * Folds only the case, as version 0.2 wrote search texts. It finds records whose text is not yet written
 * again with `foldText`.
 */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const upper = text.normalize('NFC').toLowerCase().toUpperCase().normalize('NFC');
  return upper.replaceAll('İ', 'I').toLowerCase().replaceAll('ς', 'σ').normalize('NFC');
}
