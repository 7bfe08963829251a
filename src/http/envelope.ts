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

/** Writes JSON at once, with its length. */
function writeText(response: Response, text: string): void {
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

function hasId(result: unknown): result is { id: string } {
  return typeof result === 'object' && result !== null && 'id' in result;
}
