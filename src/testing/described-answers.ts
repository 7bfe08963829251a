import type { OpenApiDocument } from '../http/openapi/model.js';
import type { Answer } from './api-client.js';
import { ApiDescription } from './openapi.js';

/** How each server of this test file describes itself, by its port. */
const servers = new Map<number, ApiDescription>();

/** Compiling schemas takes long, and most servers have the same ones. */
const descriptions = new Map<string, ApiDescription>();

/** From now on, every answer of this server must be as its OpenAPI document says. */
export function holdToDocument(port: number, document: OpenApiDocument): void {
  servers.set(port, descriptionOf(document));
}

/** Another server may get the port. */
export function releaseFromDocument(port: number): void {
  servers.delete(port);
}

/** @throws Error where the document of the server does not say what it answered */
export function checkAnswer(port: number, method: string, path: string, answer: Answer): void {
  const differences = servers.get(port)?.differencesAt(method, path, answer) ?? [];
  if (differences.length === 0) return;
  const { status, headers, body } = answer;
  const told = { status, headers: Object.fromEntries(headers), body: body as unknown };
  const faults = JSON.stringify(differences, null, 2);
  throw new Error(
    `${method} ${path} is not answered as described: ${faults}\n${JSON.stringify(told, null, 2)}`,
  );
}

function descriptionOf(document: OpenApiDocument): ApiDescription {
  const json = JSON.stringify(document);
  const known = descriptions.get(json) ?? new ApiDescription(document);
  descriptions.set(json, known);
  return known;
}
