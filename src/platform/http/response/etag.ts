import { validationError } from '../../errors/api-error.js';
import type { Precondition } from '../../data/call.js';
import { Stored, versionOf } from '../../data/records/stored-record.js';
import type { ApiRequest } from '../request/api-request.js';

/** The strong `ETag` of a record (RFC 9110, 8.8.3). */
export function etagOf(record: object): string {
  return `"${record instanceof Stored ? record.version : versionOf(record)}"`;
}

const TAG = String.raw`(?:W/)?"[!#-~\x80-\xff]*"`;
/** At least one tag. Empty list elements are ignored (RFC 9110, 5.6.1). */
const TAG_LIST = new RegExp(String.raw`^(?:[ \t]*,)*[ \t]*${TAG}(?:[ \t]*,(?:[ \t]*${TAG})?)*$`);
const EACH_TAG = new RegExp(TAG, 'g');
const ANY = '*';

/** Why a request with a weak tag fails again after the caller has read the record again. */
const WEAK_TAG_FAILURE =
  'A weak entity tag (W/"...") in If-Match never matches. A proxy that compresses responses makes tags weak. ' +
  'Read the record with Accept-Encoding: identity to get its tag.';

/** Whether `If-None-Match` of a read matches the record, so that the response is 304. */
export function isNotModified({ method, headers }: ApiRequest, etag: string): boolean {
  const known = headers['if-none-match'];
  if (known === undefined || (method !== 'GET' && method !== 'HEAD')) return false;
  const tags = known.match(EACH_TAG) ?? [];
  return known.trim() === ANY || tags.some((tag) => tag.replace(/^W\//, '') === etag);
}

/**
 * Reads `If-Match`.
 * @returns undefined if any version may be changed
 * @throws ApiError `validation_error` for a malformed header
 */
export function preconditionOf({ headers }: ApiRequest): Precondition | undefined {
  const wanted = headers['if-match']?.trim();
  if (wanted === undefined || wanted === ANY) return undefined;
  if (!TAG_LIST.test(wanted)) {
    const message = 'must be * or a list of entity tags in double quotes';
    throw validationError([{ field: 'If-Match', message }]);
  }
  // The tags of records are strong, so that a weak one equals none (RFC 9110, 13.1.1).
  const tags: readonly string[] = wanted.match(EACH_TAG) ?? [];
  const hasWeak = tags.some((tag) => tag.startsWith('W/'));
  return {
    isMetBy: (version) => tags.includes(`"${version}"`),
    ...(hasWeak && { failure: WEAK_TAG_FAILURE }),
  };
}
