import type { Response } from 'express';
import { Page } from '../listing/page.js';
import type { ApiRequest } from '../tenancy/actor.js';

/** Answers what a handler of REST returned (decisions 1). */
export function answerInEnvelope(request: ApiRequest, response: Response, result: unknown): void {
  if (response.statusCode === 201 && hasId(result)) {
    response.setHeader('Location', `${request.path}/${result.id}`);
  }
  writeJson(response, result instanceof Page ? result : { data: result });
}

/** Writes an answer at once, with its length: as fast as Node can. */
export function writeJson(response: Response, body: object): void {
  const text = JSON.stringify(body);
  response.setHeader('Content-Type', 'application/json; charset=utf-8');
  response.setHeader('Content-Length', Buffer.byteLength(text));
  response.end(text);
}

function hasId(result: unknown): result is { id: string } {
  return typeof result === 'object' && result !== null && 'id' in result;
}
