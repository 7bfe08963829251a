import type { OpenApiDocument } from '../platform/http/openapi/model.js';
import type { Answer } from './api-client.js';
import { OpenApiValidator } from './openapi.js';

/** The OpenAPI validator of each running server, by port. */
const servers = new Map<number, OpenApiValidator>();

/** Validators by document, because compiling schemas is slow and most servers have the same document. */
const descriptions = new Map<string, OpenApiValidator>();

/** Validates all later responses of this server against its OpenAPI document. */
export function registerDocument(port: number, document: OpenApiDocument): void {
  servers.set(port, validatorFor(document));
}

/** Ends the validation, because another server may get the port. */
export function unregisterDocument(port: number): void {
  servers.delete(port);
}

/** @throws Error if the response does not match the OpenAPI document of the server */
export function validateAnswer(port: number, method: string, path: string, answer: Answer): void {
  const differences = servers.get(port)?.validateRequestAnswer(method, path, answer) ?? [];
  if (differences.length === 0) return;
  const { status, headers, body } = answer;
  const received = { status, headers: Object.fromEntries(headers), body: body as unknown };
  const errors = JSON.stringify(differences, null, 2);
  throw new Error(
    `${method} ${path} does not match the OpenAPI document: ${errors}\n${JSON.stringify(received, null, 2)}`,
  );
}

/** Validators by document object. Servers of a process have the same one, and its text is long. */
const validators = new WeakMap<OpenApiDocument, OpenApiValidator>();

/** Documents that differ only in their servers have the same validator. */
export function validatorFor(document: OpenApiDocument): OpenApiValidator {
  const known = validators.get(document) ?? validatorOfText(document);
  validators.set(document, known);
  return known;
}

function validatorOfText(document: OpenApiDocument): OpenApiValidator {
  const json = JSON.stringify({ ...document, servers: [] });
  const known = descriptions.get(json) ?? new OpenApiValidator(document);
  descriptions.set(json, known);
  return known;
}
