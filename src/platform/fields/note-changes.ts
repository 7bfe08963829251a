import { applyDecorators } from '@nestjs/common';
import { validationError } from '../errors/api-error.js';
import { FurtherRule } from './field.js';
import { Text } from './kinds/kinds.js';
import { problemRule } from './kinds/rules.js';
import { codePointLength } from './kinds/text.js';

/** Maximum length of notes, in code points. */
export const MAX_NOTES = 5_000;

/** Text that an update appends to the notes of the record (docs/contract/resources.md#notes). */
export function AppendedNotes(): PropertyDecorator {
  return applyDecorators(
    Text({
      max: MAX_NOTES,
      // An update without it changes no notes. There is nothing that null could clear.
      required: true,
      description:
        'Text to append to the notes. It gets a line of its own, unless they end with it. Not together with notes.',
      example: 'Called, no answer.',
      isAlternative: true,
    }),
    FurtherRule(
      problemRule('isNotWithNotes', (_, { notes }) =>
        notes === undefined ? undefined : 'cannot be given together with notes',
      ),
    ),
  );
}

/**
 * The notes of a record after an update appends to them.
 * @returns undefined if the update appends nothing
 * @throws ApiError `validation_error` that names `append_notes`
 */
export function appendedNotes(stored: string | null, added: string | undefined) {
  if (added === undefined || endsWith(stored ?? '', added)) return undefined;
  const notes = stored === null ? added : `${stored}\n${added}`;
  const length = codePointLength(notes);
  if (length <= MAX_NOTES) return notes;
  const message = `must leave notes of at most ${MAX_NOTES} characters; there would be ${length}`;
  throw validationError([{ field: 'append_notes', message }]);
}

/** Whether a text ends with another one as whole words: "recall" does not end with "call". */
function endsWith(text: string, end: string): boolean {
  if (!text.endsWith(end)) return false;
  const before = text.slice(0, text.length - end.length);
  return !(/[\p{L}\p{N}]$/u.test(before) && /^[\p{L}\p{N}]/u.test(end));
}
