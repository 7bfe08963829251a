import { validationError } from '../../platform/errors/api-error.js';
import { codePointLength, isWellFormedText, trimText } from '../../platform/fields/kinds/text.js';
import { MAX_NAME_LENGTH } from './key.dto.js';

/**
 * The name of an organization or a key, as it is stored.
 * @throws ApiError `validation_error` for a name that is empty or too long
 */
export function requireName(name: string): string {
  const trimmed = trimText(name);
  if (trimmed === '' || codePointLength(trimmed) > MAX_NAME_LENGTH || !isWellFormedText(trimmed)) {
    throw validationError([
      { field: 'name', message: `must be 1 to ${MAX_NAME_LENGTH} characters` },
    ]);
  }
  return trimmed;
}
