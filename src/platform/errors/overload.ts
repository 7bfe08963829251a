import { ApiError } from './api-error.js';

/** The headers of every `overloaded`: clients may retry after a second. */
export const OVERLOAD_HEADERS = { 'Retry-After': '1' } as const;

/** The error of an operation that has waited for others until its deadline. It had no effect. */
export function overloaded(cause?: unknown): ApiError {
  return new ApiError('overloaded', { headers: OVERLOAD_HEADERS, cause });
}
