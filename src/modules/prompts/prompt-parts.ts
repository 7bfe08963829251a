import type { PromptPart } from '../mcp/prompts/prompt.decorator.js';

/** The first records of a list. */
export interface ListExcerpt<T> {
  readonly data: readonly T[];
  /** The number of all records. */
  readonly total: number;
}

/** @returns a line with the title and the number of records, followed by the records */
export function listParts(
  title: string,
  kind: string,
  { data, total }: ListExcerpt<{ readonly id: string }>,
): PromptPart[] {
  const count = data.length < total ? `the first ${data.length} of ${total}` : String(total);
  return [`${title}: ${count}.`, ...data.map((record) => ({ kind, record }))];
}

/**
 * Merges lists in a common order.
 * @param limit the maximum number of records to keep
 */
export function mergeLists<T>(
  lists: readonly { readonly data: readonly T[]; readonly meta: { readonly total: number } }[],
  compare: (a: T, b: T) => number,
  limit: number,
): ListExcerpt<T> {
  return {
    data: lists
      .flatMap(({ data }) => data)
      .sort(compare)
      .slice(0, limit),
    total: lists.reduce((sum, { meta }) => sum + meta.total, 0),
  };
}
