import type { Type } from '@nestjs/common';
import { VERSION } from '../../config/version.js';
import { PAGE_META_SCHEMA } from '../../listing/page.js';
import { Components } from './components.js';
import { ERROR_SCHEMA } from './errors.js';
import { HEADERS } from './response-headers.js';
import type { OpenApiDocument, Operation } from './model.js';
import { operationOf, SECURITY_SCHEME } from './operation.js';
import { type Route, routesOf } from './routes.js';

const INTRODUCTION = `
A multi-tenant JSON API for leads, appointments and tasks. Every record belongs to an organization,
and a key can access only the records of its organization.

**Keys.** Send \`Authorization: Bearer lat_...\`. A key has scopes; each operation names the scope that
it requires.

**Input.** Send JSON in UTF-8 as \`application/json\`. Text is trimmed at both ends, and its length is
counted in Unicode code points. Text without visible characters is empty, and an empty optional text
means \`null\`. U+0000, unpaired surrogates, unknown fields and unknown parameters are rejected. Times
are ISO 8601 date-times. A date alone means midnight, and a time without an offset is UTC. UUIDs are
not case-sensitive.

**Responses.** A record is \`{"data": {...}}\`, a list \`{"data": [...], "meta": {...}}\` and an error
\`{"error": {...}}\`. Records have all fields; unset ones are \`null\`. Times have the format
\`YYYY-MM-DDTHH:mm:ss.sssZ\`. Fields may be added within v1. GET routes also answer HEAD.

**Limits.** Reads (GET, HEAD) and writes are counted separately for each key, in windows of 60 seconds
that start with the first request. Every response has the state of the window in its \`RateLimit-*\`
headers. Over the limit, the response is 429 with \`Retry-After\`.

**Retries.** A POST with an \`Idempotency-Key\` is safe to retry. It is executed once, and retries
within 24 hours get the same response, with \`Idempotency-Replayed: true\`.

**Versions.** Records have a strong \`ETag\`. With \`If-Match\`, PUT and DELETE change only that version.
With \`If-None-Match\`, GET answers 304 while the record has that version.

**Errors.** \`code\` is stable, \`message\` may change. Retry \`retryable\` errors with growing, jittered
delays. Malformed HTTP requests get \`bad_request\` with 400, 408, 417 or 431.
`;

/**
 * Creates the OpenAPI document of all routes that require a key.
 * @param serverUrl URL of the server, without a path
 */
export function openApiDocument(
  controllers: readonly Type<object>[],
  serverUrl: string,
): OpenApiDocument {
  const routes = routesOf(controllers);
  const components = new Components({ Error: ERROR_SCHEMA, PageMeta: PAGE_META_SCHEMA });
  return {
    openapi: '3.1.0',
    info: {
      title: 'Latitude',
      version: VERSION,
      summary: 'Leads, appointments and tasks of many organizations',
      description: INTRODUCTION.trim(),
      contact: { name: 'Latitude' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: serversOf(serverUrl),
    tags: tagsOf(controllers),
    paths: pathsOf(routes, components),
    components: {
      securitySchemes: {
        [SECURITY_SCHEME]: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'lat_...',
          description: 'An API key of an organization: `lat_` and 36 letters and digits.',
        },
      },
      schemas: components.schemas,
      responses: components.responses,
      headers: HEADERS,
    },
  };
}

export function serversOf(url: string): OpenApiDocument['servers'] {
  return [{ url, description: 'This service' }];
}

/**
 * Returns the tags in the order of the modules; tags without records are last. If several tags have
 * the same name, the one with a description is used.
 */
function tagsOf(controllers: readonly Type<object>[]): OpenApiDocument['tags'] {
  const routes = controllers.flatMap((controller) => routesOf([controller]));
  const tags = new Map<string, Route['tag']>();
  const inOrder = [...routes].sort((a, b) => Number(isForAnyKey(a)) - Number(isForAnyKey(b)));
  for (const { tag } of inOrder) {
    if (!tags.get(tag.name)?.description) tags.set(tag.name, tag);
  }
  return [...tags.values()];
}

function isForAnyKey({ access }: Route): boolean {
  return access === 'any-key';
}

function pathsOf(routes: readonly Route[], components: Components): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const route of routes) {
    (paths[route.path] ??= {})[route.method] = operationOf(route, components);
  }
  return paths;
}
