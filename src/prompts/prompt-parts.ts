import type { PromptPart } from '../mcp/prompts/prompt.decorator.js';

/** The records that a prompt has of a list. */
export interface ListExcerpt<T> {
  readonly data: readonly T[];
  /** How many there are. */
  readonly total: number;
}

/** Says how many there are of a list, and has its first records. */
export function listParts(
  title: string,
  kind: string,
  { data, total }: ListExcerpt<{ readonly id: string }>,
): PromptPart[] {
  const count = data.length < total ? `the first ${data.length} of ${total}` : String(total);
  return [`${title}: ${count}.`, ...data.map((record) => ({ kind, record }))];
}

/** The first records of several lists, in one order. */
export function mergeLists<T>(
  lists: readonly { readonly data: readonly T[]; readonly meta: { readonly total: number } }[],
  compare: (a: T, b: T) => number,
  most: number,
): ListExcerpt<T> {
  return {
    data: lists
      .flatMap(({ data }) => data)
      .sort(compare)
      .slice(0, most),
    total: lists.reduce((sum, { meta }) => sum + meta.total, 0),
  };
}
