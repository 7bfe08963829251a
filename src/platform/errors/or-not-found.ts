import { ApiError } from './api-error.js';

/** @throws ApiError `not_found` if there is no record; `kind` names it in the message */
export function orNotFound<T>(found: T | undefined | false, kind: string): T {
  return found !== undefined && found !== false ? found : notFound(kind);
}

/** @throws ApiError `not_found` */
export function notFound(kind: string): never {
  throw new ApiError('not_found', { message: `There is no such ${kind}.` });
}
