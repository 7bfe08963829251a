import type { Precondition } from './call.js';

const TAG = String.raw`(?:W/)?"[!#-~\x80-\xff]*"`;
/** At least one tag. Empty list elements are ignored (RFC 9110, 5.6.1). */
const TAG_LIST = new RegExp(String.raw`^(?:[ \t]*,)*[ \t]*${TAG}(?:[ \t]*,(?:[ \t]*${TAG})?)*$`);
const EACH_TAG = new RegExp(TAG, 'g');

/** Stands for any version of a record. */
export const ANY_TAG = '*';

/** What is wrong with a text that is neither `*` nor a list of tags. */
export const TAGS_PROBLEM = 'must be * or a list of entity tags in double quotes';

/** Why a request with a weak tag fails again after the caller has read the record again. */
const WEAK_TAG_FAILURE =
  'A weak entity tag (W/"...") in If-Match never matches. A proxy that compresses responses makes tags weak. ' +
  'Read the record with Accept-Encoding: identity to get its tag.';

/** Whether a text is `*` or a list of entity tags. */
export function isTagList(text: string): boolean {
  return text === ANY_TAG || TAG_LIST.test(text);
}

/** The tags in a text, with `W/` of weak ones. */
export function tagsIn(text: string): readonly string[] {
  return text.match(EACH_TAG) ?? [];
}

/**
 * The condition that a list of entity tags states.
 * @returns undefined if any version may be changed
 */
export function preconditionOfTags(wanted: string | undefined): Precondition | undefined {
  if (wanted === undefined || wanted === ANY_TAG) return undefined;
  // The tags of records are strong, so that a weak one equals none (RFC 9110, 13.1.1).
  const tags = tagsIn(wanted);
  const hasWeak = tags.some((tag) => tag.startsWith('W/'));
  return {
    isMetBy: (version) => tags.includes(`"${version}"`),
    ...(hasWeak && { failure: WEAK_TAG_FAILURE }),
  };
}
