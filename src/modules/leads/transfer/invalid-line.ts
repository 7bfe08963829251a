import { type ApiError, validationError } from '../../../platform/errors/api-error.js';

/** The error of a file with a line that cannot be read. */
export function invalidLine(line: number, problem: string): ApiError {
  return validationError([{ field: 'body', message: `is not valid: line ${line} ${problem}` }]);
}
