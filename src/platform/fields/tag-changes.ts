import { applyDecorators } from '@nestjs/common';
import { validationError } from '../errors/api-error.js';
import { FurtherRule } from './field.js';
import { MAX_TAGS, Tags } from './kinds/kinds.js';
import { problemRule } from './kinds/rules.js';

/** The fields of an update that add and remove tags (docs/contract/resources.md#tags). */
interface TagChanges {
  readonly tags?: readonly string[];
  readonly add_tags?: readonly string[];
  readonly remove_tags?: readonly string[];
}

/** Tags that an update adds behind those that the record has. */
export function AddedTags(): PropertyDecorator {
  const description = 'Tags to add. They follow those that the record has. Not together with tags.';
  const declaration = Tags({ description, example: ['autumn'], isAlternative: true });
  return applyDecorators(
    declaration,
    FurtherRule(problemRule('isNotWithTags', (_, changes) => beside(changes))),
  );
}

/** Tags that an update removes from those that the record has. */
export function RemovedTags(): PropertyDecorator {
  const description = 'Tags to remove. The others stay. Not together with tags.';
  const declaration = Tags({ description, example: ['spring'], isAlternative: true });
  return applyDecorators(
    declaration,
    FurtherRule(problemRule('isNotAdded', (_, changes) => beside(changes) ?? alsoAdded(changes))),
  );
}

/**
 * The tags of a record after an update adds and removes some.
 * @returns undefined if the update does neither
 * @throws ApiError `validation_error` that names `add_tags`
 */
export function changedTags(
  stored: readonly string[],
  { add_tags = [], remove_tags = [] }: TagChanges,
): string[] | undefined {
  if (add_tags.length === 0 && remove_tags.length === 0) return undefined;
  const kept = stored.filter((tag) => !remove_tags.includes(tag));
  const tags = [...new Set([...kept, ...add_tags])];
  if (tags.length <= MAX_TAGS) return tags;
  const message = `must leave at most ${MAX_TAGS} tags; there would be ${tags.length}`;
  throw validationError([{ field: 'add_tags', message }]);
}

function beside({ tags }: TagChanges): string | undefined {
  return tags === undefined ? undefined : 'cannot be given together with tags';
}

function alsoAdded({ add_tags, remove_tags }: TagChanges): string | undefined {
  if (!Array.isArray(add_tags) || !Array.isArray(remove_tags)) return undefined;
  const isInBoth = remove_tags.some((tag) => add_tags.includes(tag));
  return isInBoth ? 'must not have a tag that add_tags has' : undefined;
}
