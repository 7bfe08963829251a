import { ApiError } from './api-error.js';

/**
 * Passes on what was found.
 * @param kind what it is called in the message
 * @throws ApiError `not_found` where it was not
 */
export function orNotFound<T>(found: T | undefined | false, kind: string): T {
  if (found !== undefined && found !== false) return found;
  throw new ApiError('not_found', { message: `There is no such ${kind}.` });
}
