import { HttpStatus, StreamableFile } from '@nestjs/common';
import type { Response } from 'express';
import type { StoredResponse } from './idempotency.repository.js';
import { Stored, versionOf } from '../../data/records/stored-record.js';
import { CursorPage, Page } from '../../data/lists/page.js';
import { type ApiRequest, routeOf } from '../request/api-request.js';
import type { SerializedResult } from '../routes/route-plan.js';
import { WithMeta } from '../routes/with-meta.js';
import { validationError } from '../../errors/api-error.js';
import type { Precondition } from '../../data/call.js';
import {
  ANY_TAG,
  isTagList,
  preconditionOfTags,
  tagsIn,
  TAGS_PROBLEM,
} from '../../data/entity-tags.js';

/** A response that is serialized already. */
export class SerializedResponse {
  constructor(readonly response: StoredResponse) {}
}

/**
 * Whether the result of a REST handler is sent as it is: a file, or text whose content type the handler
 * declares.
 */
export function isSentWithoutEnvelope(response: Response, result: unknown): boolean {
  if (result instanceof StreamableFile) return true;
  return typeof result === 'string' && !isJson(response.getHeader('Content-Type'));
}

/** Whether a response with this content type has the envelope. */
function isJson(contentType: number | string | string[] | undefined): boolean {
  return contentType === undefined || /^application\/([^;]+\+)?json\b/i.test(String(contentType));
}

const CREATED: number = HttpStatus.CREATED;

/** No content, reset content, not modified. */
const STATUSES_WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** Serializes the result of a REST handler (docs/contract/endpoints.md#responses). */
export function serializeResponse(
  request: ApiRequest,
  response: Response,
  result: unknown,
): StoredResponse {
  if (result instanceof SerializedResponse) return result.response;
  if (result instanceof WithMeta) response.status(result.status);
  const { statusCode: status } = response;
  if (STATUSES_WITHOUT_BODY.has(status)) return { status, location: null, etag: null, text: '' };
  const serialize = request.state.plan?.team?.serialize ?? serializeResult;
  return { status, ...serialize(response, result) };
}

function serializeResult(response: Response, result: unknown): SerializedResult {
  if (result instanceof Page || result instanceof CursorPage) {
    return { location: null, etag: null, text: result.text };
  }
  return { ...headOf(response.req as ApiRequest, response, result), text: serializeRecord(result) };
}

/** The headers that describe the record that a handler returned. */
export function headOf(
  request: ApiRequest,
  response: Response,
  result: unknown,
): Omit<SerializedResult, 'text'> {
  const record = result instanceof WithMeta ? (result.data as unknown) : result;
  const id = idOf(record);
  if (id === undefined) return { location: null, etag: null };
  const isCreated = response.statusCode === CREATED;
  return {
    location: isCreated ? locationOf(request, response, id) : null,
    etag: request.method === 'DELETE' || hasRelated(record) ? null : etagOf(record as object),
  };
}

/** Returns the `Location` that the handler has set, or the path of the created record. */
function locationOf(request: ApiRequest, response: Response, id: string): string {
  const location = response.getHeader('Location');
  return typeof location === 'string' ? location : createdPathOf(request, id);
}

/** Returns the path of a record that a POST created. */
export function createdPathOf(request: ApiRequest, id: string): string {
  const kept = request.state.plan?.collections.get(routeOf(request) ?? '') ?? [];
  const segments = request.path.split('/');
  return [...kept.map((index) => segments[index]), id].join('/');
}

/** Wraps a result in `data`. */
export function serializeRecord(result: unknown): string {
  if (result instanceof Stored) return `{"data":${result.json}}`;
  if (!(result instanceof WithMeta)) return JSON.stringify({ data: result ?? null });
  const { data, meta } = result as WithMeta<unknown, object>;
  const json = data instanceof Stored ? data.json : JSON.stringify(data);
  return `{"data":${json},"meta":${JSON.stringify(meta)}}`;
}

/** Sends a serialized response, or 304 if `If-None-Match` matches. */
export function sendResponse(
  request: ApiRequest,
  response: Response,
  { status, location, etag, text }: StoredResponse,
): void {
  response.statusCode = status;
  // The handler may have set this header already, for example with a decorator.
  if (location !== null && !response.hasHeader('Location')) {
    response.setHeader('Location', location);
  }
  if (etag !== null) response.setHeader('ETag', etag);
  if (etag !== null && isNotModified(request, etag)) response.status(304).end();
  else if (STATUSES_WITHOUT_BODY.has(status)) response.end();
  else writeText(response, text);
}

/** Length from which a body is sent as a buffer. Node needs three times the memory for a string. */
const LONG_TEXT = 4_096;

function writeText(response: Response, text: string): void {
  if (!response.hasHeader('Content-Type')) {
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
  }
  if (text.length < LONG_TEXT) {
    response.setHeader('Content-Length', Buffer.byteLength(text));
    response.end(text);
  } else {
    const bytes = Buffer.from(text);
    response.setHeader('Content-Length', bytes.length);
    response.end(bytes);
  }
}

/** The id of a record; undefined for other results. */
function idOf(result: unknown): string | undefined {
  if (result instanceof Stored) return result.id;
  if (typeof result !== 'object' || result === null || !('id' in result)) return undefined;
  return result.id as string;
}

function hasRelated(record: unknown): boolean {
  return record instanceof Stored && record.hasRelated;
}

/** The strong `ETag` of a record (RFC 9110, 8.8.3). */
export function etagOf(record: object): string {
  return `"${record instanceof Stored ? record.version : versionOf(record)}"`;
}

/** The versions that a reader has: the entity tags of `If-None-Match` without their quotes. */
export function knownVersions({ headers }: ApiRequest): string[] {
  const tags = tagsIn(headers['if-none-match'] ?? '');
  return tags.map((tag) => tag.replace(/^(W\/)?"(.*)"$/, '$2'));
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
