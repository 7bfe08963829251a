import type { OpenApiDocument } from '../http/openapi/model.js';
import type { Answer } from './api-client.js';
import { OpenApiValidator } from './openapi.js';

/** How each server of this test file describes itself, by its port. */
const servers = new Map<number, OpenApiValidator>();

/** Compiling schemas takes long, and most servers have the same ones. */
const descriptions = new Map<string, OpenApiValidator>();

/** From now on, every answer of this server must be as its OpenAPI document says. */
export function registerDocument(port: number, document: OpenApiDocument): void {
  servers.set(port, validatorFor(document));
}

/** Another server may get the port. */
export function unregisterDocument(port: number): void {
  servers.delete(port);
}

/** @throws Error where the document of the server does not say what it answered */
export function validateAnswer(port: number, method: string, path: string, answer: Answer): void {
  const differences = servers.get(port)?.validateRequestAnswer(method, path, answer) ?? [];
  if (differences.length === 0) return;
  const { status, headers, body } = answer;
  const told = { status, headers: Object.fromEntries(headers), body: body as unknown };
  const faults = JSON.stringify(differences, null, 2);
  throw new Error(
    `${method} ${path} is not answered as described: ${faults}\n${JSON.stringify(told, null, 2)}`,
  );
}

function validatorFor(document: OpenApiDocument): OpenApiValidator {
  const json = JSON.stringify(document);
  const known = descriptions.get(json) ?? new OpenApiValidator(document);
  descriptions.set(json, known);
  return known;
}
