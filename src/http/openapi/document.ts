import type { Type } from '@nestjs/common';
import { VERSION } from '../../config/version.js';
import type { JsonSchema } from '../../fields/json-schema.js';
import { Components } from './components.js';
import { ERROR_SCHEMA } from './errors.js';
import { HEADERS } from './response-headers.js';
import type { OpenApiDocument, Operation } from './model.js';
import { operationOf, SECURITY_SCHEME } from './operation.js';
import { type Route, routesOf } from './routes.js';

const INTRODUCTION = `
A multi-tenant JSON API for leads, appointments and tasks. Every record belongs to an organization,
and a key sees only the records of its own.

**Keys.** Send \`Authorization: Bearer lat_...\`. A key has scopes; each operation names the one that
it needs.

**Input.** Send JSON in UTF-8 as \`application/json\`. Text is trimmed at both ends and counted in
Unicode code points; text that shows nothing is empty, and an empty optional text means \`null\`. U+0000 and unpaired surrogates are
refused, and so are unknown fields and parameters: nothing is dropped in silence. Times are ISO 8601
date-times; a date alone is its midnight, and what has no offset is UTC. UUIDs may come in any case.

**Answers.** A record is \`{"data": {...}}\`, a list \`{"data": [...], "meta": {...}}\` and a refusal
\`{"error": {...}}\`. Every field of a record is there, unset ones as \`null\`. Times are
\`YYYY-MM-DDTHH:mm:ss.sssZ\`. Further fields may be added within v1. GET routes answer HEAD as well.

**Limits.** Reads (GET, HEAD) and writes are counted apart for each key, in windows of 60 seconds
that begin with its first request. Every answer tells the state of the window. Over the limit the
answer is 429 with \`Retry-After\`.

**Retries.** An \`Idempotency-Key\` on a POST makes it safe to repeat: it is carried out once, and
answered alike for 24 hours, with \`Idempotency-Replayed: true\`.

**Versions.** A record comes with a strong \`ETag\`. \`If-Match\` on PUT and DELETE changes only that
version, and \`If-None-Match\` on GET is answered by 304 as long as the record has it.

**Errors.** \`code\` is stable, \`message\` may change. Repeat what is \`retryable\` with growing,
jittered delays. What cannot be read as HTTP is refused with \`bad_request\` and 400, 408, 417 or 431.
`;

const PAGE_META: JsonSchema = {
  type: 'object',
  properties: {
    page: { type: 'integer', minimum: 1, description: 'Number of this page.' },
    limit: { type: 'integer', minimum: 1, maximum: 100, description: 'Most records on a page.' },
    total: { type: 'integer', minimum: 0, description: 'Records in the whole list, exactly.' },
    total_pages: { type: 'integer', minimum: 0, description: 'Pages of the whole list.' },
  },
  required: ['page', 'limit', 'total', 'total_pages'],
};

/**
 * Creates the OpenAPI document of all routes that require a key.
 * @param serverUrl address of the server, without a path
 */
export function openApiDocument(
  controllers: readonly Type<object>[],
  serverUrl: string,
): OpenApiDocument {
  const routes = routesOf(controllers);
  const components = new Components({ Error: ERROR_SCHEMA, PageMeta: PAGE_META });
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
 * Returns the tags in the order of the modules; tags without records are last. If several topics have
 * the same name, the one with a description is used.
 */
function tagsOf(controllers: readonly Type<object>[]): OpenApiDocument['tags'] {
  const routes = controllers.flatMap((controller) => routesOf([controller]));
  const tags = new Map<string, Route['topic']>();
  const inOrder = [...routes].sort((a, b) => Number(isForAnyKey(a)) - Number(isForAnyKey(b)));
  for (const { topic } of inOrder) {
    if (!tags.get(topic.name)?.description) tags.set(topic.name, topic);
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
