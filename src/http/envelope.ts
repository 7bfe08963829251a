import type { Response } from 'express';
import { textOf } from '../database/stored-record.js';
import { Page } from '../listing/page.js';
import type { ApiRequest } from '../tenancy/actor.js';

/** Answers what a handler of REST returned (decisions 1). */
export function answerInEnvelope(request: ApiRequest, response: Response, result: unknown): void {
  if (response.statusCode === 201 && hasId(result)) {
    response.setHeader('Location', `${request.path}/${result.id}`);
  }
  writeText(response, textOfAnswer(result));
}

/** What is still as it was stored leaves as it came. */
function textOfAnswer(result: unknown): string {
  if (result instanceof Page) return result.text;
  const stored = typeof result === 'object' && result !== null ? textOf(result) : undefined;
  return stored === undefined ? JSON.stringify({ data: result }) : `{"data":${stored}}`;
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
