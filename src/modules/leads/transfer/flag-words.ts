/** The words of files for true and false: English, German, French, Spanish, and what their spreadsheets write. */
const WORDS: Readonly<Record<'true' | 'false', readonly string[]>> = {
  true: ['true', 'yes', 'y', '1', 'ja', 'wahr', 'oui', 'vrai', 'sí', 'si', 'verdadero'],
  false: ['false', 'no', 'n', '0', 'nein', 'falsch', 'non', 'faux', 'falso'],
};

const VALUES: ReadonlyMap<string, boolean> = new Map([
  ...WORDS.true.map((word): [string, boolean] => [word, true]),
  ...WORDS.false.map((word): [string, boolean] => [word, false]),
]);

/** The problem of a cell that is neither. */
export const FLAG_PROBLEM = `must be a word for true (${WORDS.true.join(', ')}) or for false (${WORDS.false.join(', ')})`;

/** Longer than any word. The time of `normalize()` can grow with the square of the length. */
const MAX_WORD = 20;

/** @returns undefined if the text is no word for true or false */
export function flagOf(text: string): boolean | undefined {
  const word = text.trim();
  return word.length > MAX_WORD ? undefined : VALUES.get(word.normalize('NFC').toLowerCase());
}
