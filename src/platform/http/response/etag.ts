import { validationError } from '../../errors/api-error.js';
import type { Precondition } from '../../data/call.js';
import {
  ANY_TAG,
  isTagList,
  preconditionOfTags,
  tagsIn,
  TAGS_PROBLEM,
} from '../../data/entity-tags.js';
import { Stored, versionOf } from '../../data/records/stored-record.js';
import type { ApiRequest } from '../request/api-request.js';

/** The strong `ETag` of a record (RFC 9110, 8.8.3). */
export function etagOf(record: object): string {
  return `"${record instanceof Stored ? record.version : versionOf(record)}"`;
}

/** Whether `If-None-Match` of a read matches the record, so that the response is 304. */
export function isNotModified({ method, headers }: ApiRequest, etag: string): boolean {
  const known = headers['if-none-match'];
  if (known === undefined || (method !== 'GET' && method !== 'HEAD')) return false;
  const tags = tagsIn(known);
  return known.trim() === ANY_TAG || tags.some((tag) => tag.replace(/^W\//, '') === etag);
}

/**
 * Reads `If-Match`.
 * @returns undefined if any version may be changed
 * @throws ApiError `validation_error` for a malformed header
 */
export function preconditionOf({ headers }: ApiRequest): Precondition | undefined {
  const wanted = headers['if-match']?.trim();
  if (wanted !== undefined && !isTagList(wanted)) {
    throw validationError([{ field: 'If-Match', message: TAGS_PROBLEM }]);
  }
  return preconditionOfTags(wanted);
}
