import { ApiError } from './api-error.js';

/**
 * Returns a found record.
 * @param kind name of the record in the error message
 * @throws ApiError `not_found` if there is none
 */
export function orNotFound<T>(found: T | undefined | false, kind: string): T {
  if (found !== undefined && found !== false) return found;
  throw new ApiError('not_found', { message: `There is no such ${kind}.` });
}
