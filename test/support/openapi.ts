import type { OpenApiDocument } from '../../src/http/openapi/model.js';
import type { Answer } from '../../src/testing/api-client.js';
import type { OpenApiValidator } from '../../src/testing/openapi.js';
import { type Route, ROUTES } from '../../src/testing/routes.js';
import type { TestApp } from '../../src/testing/test-app.js';

/** Fetches the OpenAPI document of an application. */
export async function documentOf(app: TestApp): Promise<OpenApiDocument> {
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
