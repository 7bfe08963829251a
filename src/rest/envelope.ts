import type { Response } from 'express';
import type { StoredResponse } from '../database/idempotency.repository.js';
import { storedJsonOf } from '../database/records/stored-record.js';
import { Page } from '../listing/page.js';
import type { ApiRequest } from '../http/request/api-request.js';
import { etagOf, isNotModified } from './etag.js';
import { createdPathOf } from './route-table.js';

/** What a handler returned, in the form in which it is answered. */
export class SerializedResponse {
  constructor(readonly answer: StoredResponse) {}
}

/** The answer to what a handler of REST returned (docs/contract/endpoints.md#responses). */
export function serializeResponse(
  request: ApiRequest,
  response: Response,
  result: unknown,
): StoredResponse {
  if (result instanceof SerializedResponse) return result.answer;
  const { statusCode: status } = response;
  if (result instanceof Page) return { status, location: null, etag: null, text: result.text };
  const isRecord = hasId(result);
  return {
    status,
    location: isRecord && status === 201 ? locationOf(request, response, result.id) : null,
    etag: isRecord && request.method !== 'DELETE' ? etagOf(result) : null,
    text: serializeRecord(result),
  };
}

/** The path of a created record, unless its handler has set another. */
function locationOf(request: ApiRequest, response: Response, id: string): string {
  const own = response.getHeader('Location');
  return typeof own === 'string' ? own : createdPathOf(request, id);
}

/** What is still as it was stored leaves as it came. */
function serializeRecord(result: unknown): string {
  const stored = typeof result === 'object' && result !== null ? storedJsonOf(result) : undefined;
  return stored === undefined ? JSON.stringify({ data: result }) : `{"data":${stored}}`;
}

/** Answers a request of REST. */
export function sendResponse(
  request: ApiRequest,
  response: Response,
  answer: StoredResponse,
): void {
  const { status, location, etag, text } = answer;
  response.statusCode = status;
  // A handler may have set its own, also by a decorator.
  if (location !== null && !response.hasHeader('Location')) {
    response.setHeader('Location', location);
  }
  if (etag !== null) response.setHeader('ETag', etag);
  if (etag !== null && isNotModified(request, etag)) response.status(304).end();
  else writeText(response, text);
}

/** Node writes short strings together with the head, and long ones by way of three times their size. */
const LONG_TEXT = 4_096;

/** Writes JSON at once, with its length. */
function writeText(response: Response, text: string): void {
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  if (text.length < LONG_TEXT) {
    response.setHeader('Content-Length', Buffer.byteLength(text));
    response.end(text);
  } else {
    const bytes = Buffer.from(text);
    response.setHeader('Content-Length', bytes.length);
    response.end(bytes);
  }
}

function hasId(result: unknown): result is { id: string } {
  return typeof result === 'object' && result !== null && 'id' in result;
}
