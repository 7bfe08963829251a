import {
  BaseResolver,
  createConfig,
  lintDocument,
  type NormalizedProblem,
  Source,
} from '@redocly/openapi-core';
import { NestFactory } from '@nestjs/core';
import { serverModule } from '../../src/app.js';
import { readSettings } from '../../src/platform/config/settings.js';
import type { Extension } from '../../src/platform/extension/extension.js';
import { openApiDocument } from '../../src/platform/nest/openapi-document.js';
import type { OpenApiDocument } from '../../src/platform/http/openapi/model.js';
import type { Answer } from '../../src/testing/api-client.js';
import type { OpenApiValidator } from '../../src/testing/openapi.js';
import { type Route, ROUTES } from '../../src/testing/routes.js';
import type { TestServer } from '../../src/testing/test-server.js';

/** Fetches the OpenAPI document of an application. */
export async function documentOf(app: TestServer): Promise<OpenApiDocument> {
  return (await app.client().get('/openapi.json')).body as OpenApiDocument;
}

/** Expects a response that the document describes. */
export function expectDescribed(description: OpenApiValidator, route: Route, answer: Answer): void {
  expect({
    answer: answer.body as unknown,
    differences: description.differences(route, answer),
  }).toEqual({ answer: answer.body as unknown, differences: [] });
}

export function routeOf(method: Route['method'], pattern: string): Route {
  return ROUTES.find((route) => route.method === method && route.pattern === pattern)!;
}

/** Creates the OpenAPI document of the application with extensions, without starting it. */
export async function describeExtensions(
  extensions: readonly Extension[],
): Promise<OpenApiDocument> {
  const root = serverModule({ settings: readSettings({}), database: { url: '' }, extensions });
  const preview = await NestFactory.create(root, {
    preview: true,
    logger: false,
    abortOnError: false,
  });
  return openApiDocument(preview, 'http://127.0.0.1');
}

/** Returns the errors that Redocly finds in the operations of a team, and in what they refer to. */
export async function lintPaths(
  document: OpenApiDocument,
  isOfTeam: (path: string) => boolean,
): Promise<NormalizedProblem[]> {
  const paths = Object.fromEntries(
    Object.entries(document.paths).filter(([path]) => isOfTeam(path)),
  );
  expect(paths).not.toEqual({});
  const problems = await lint({ ...document, paths });
  return problems.filter(({ severity }) => severity === 'error');
}

/** Returns the problems that the recommended rules of Redocly find in a document. */
export async function lint(document: OpenApiDocument): Promise<NormalizedProblem[]> {
  // `/leads/imports/{id}` and `/leads/{id}/events` both match a path that no import and no lead has.
  const rules = { 'no-ambiguous-paths': 'off' } as const;
  const { styleguide } = await createConfig({ extends: ['recommended'], rules });
  const text = JSON.stringify(document);
  return lintDocument({
    // Parsed as JSON, because Redocly's parser of YAML takes as long as its rules.
    document: { source: new Source('openapi.json', text), parsed: JSON.parse(text) as unknown },
    externalRefResolver: new BaseResolver(),
    config: styleguide,
  });
}
