/** A tool or an argument, which is chosen by its words. */
export interface Described {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
}

const SMALL_WORDS = ['a', 'an', 'and', 'of', 'or', 'the'];

/** The words of a string for comparison: in lower case and without the s of a plural. */
function wordsOf(text: string): Set<string> {
  const words =
    text
      .toLowerCase()
      .replace(/(?<=\w)-(?=\w)/g, '')
      .match(/[a-z0-9]+/g) ?? [];
  const telling = words.filter((word) => !SMALL_WORDS.includes(word));
  return new Set(telling.map((word) => word.replace(/(?<=\w{3})s$/, '')));
}

/**
 * How well words match a name, title and description: 0 if a word is missing. The score is higher
 * the more of them are in the name or title, and the fewer other words there are.
 */
export function fit(wanted: string, { name, title = '', description = '' }: Described): number {
  const words = [...wordsOf(wanted)];
  const named = wordsOf(`${name} ${title}`);
  const toolWords = wordsOf(`${name} ${title} ${description}`);
  if (!words.every((word) => toolWords.has(word))) return 0;
  return words.filter((word) => named.has(word)).length + words.length / toolWords.size;
}

/** The candidate with the highest score above 0. */
export function bestOf<T extends Described>(wanted: string, candidates: readonly T[]) {
  const scored = candidates.map((candidate) => ({ candidate, score: fit(wanted, candidate) }));
  const [best] = scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score);
  return best?.candidate;
}
