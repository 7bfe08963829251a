import type { INestApplication, Type } from '@nestjs/common';
import { DiscoveryService, ModulesContainer } from '@nestjs/core';
import { VERSION } from '../../config/version.js';
import { ERROR_CATALOGUE } from '../../errors/error-catalogue.js';
import { CURSOR_META_SCHEMA, PAGE_META_SCHEMA } from '../../data/lists/page.js';
import { Components } from './components.js';
import { errorCodeSchema, ERROR_SCHEMA } from './error-schema.js';
import type { OpenApiDocument, Operation } from './model.js';
import { operationOf, SECURITY_SCHEME } from './operation.js';
import { HEADERS } from './response-headers.js';
import { hasGlobalGuard, restHandlersOf } from './routes.js';
import { explore, type ExploredOperation, OPENAPI_VERSION } from './exploration.js';

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

const BEARER_KEY = {
  type: 'http',
  scheme: 'bearer',
  bearerFormat: 'lat_...',
  description: 'An API key of an organization: `lat_` and 36 letters and digits.',
};

/**
 * Creates the OpenAPI document of the REST API.
 * @param serverUrl URL of the server, without a path
 */
export async function openApiDocument(
  app: INestApplication,
  serverUrl: string,
): Promise<OpenApiDocument> {
  const discovery = new DiscoveryService(app.get(ModulesContainer));
  const controllers = discovery.getControllers().map(({ metatype }) => metatype as Type<object>);
  const handlers = restHandlersOf(controllers, hasGlobalGuard(discovery));
  const explored = await explore(app, handlers);
  const schemas = {
    ErrorCode: errorCodeSchema(Object.keys(ERROR_CATALOGUE)),
    Error: ERROR_SCHEMA,
    CursorMeta: CURSOR_META_SCHEMA,
    PageMeta: PAGE_META_SCHEMA,
  };
  const components = new Components(schemas, explored);
  const operations = explored.operations.map((one) => [one, operationOf(one, components)] as const);
  return {
    openapi: OPENAPI_VERSION,
    info: {
      title: 'Latitude',
      version: VERSION,
      summary: 'Leads, appointments and tasks of many organizations',
      description: INTRODUCTION.trim(),
      contact: { name: 'Latitude' },
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: serversOf(serverUrl),
    tags: tagsOf(operations),
    paths: pathsOf(operations),
    components: {
      securitySchemes: { [SECURITY_SCHEME]: BEARER_KEY },
      schemas: components.schemas,
      responses: components.responses,
      headers: HEADERS,
    },
  };
}

type Operations = readonly (readonly [ExploredOperation, Operation])[];

export function serversOf(url: string): OpenApiDocument['servers'] {
  return [{ url, description: 'This service' }];
}

/** Returns the tags in the order of the modules; those of routes for every key are last. */
function tagsOf(operations: Operations): OpenApiDocument['tags'] {
  const tags = new Map<string, { name: string; description?: string }>();
  const isForAnyKey = ([{ handler }]: Operations[number]) => Number(handler.access === 'any-key');
  for (const [{ handler }, operation] of operations.toSorted(
    (a, b) => isForAnyKey(a) - isForAnyKey(b),
  )) {
    for (const name of operation.tags) {
      const declared = handler.tag?.name === name ? handler.tag : { name };
      if (!tags.get(name)?.description) tags.set(name, declared);
    }
  }
  return [...tags.values()];
}

function pathsOf(operations: Operations): OpenApiDocument['paths'] {
  const paths: Record<string, Record<string, Operation>> = {};
  for (const [{ path, method }, operation] of operations) (paths[path] ??= {})[method] = operation;
  return Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1)));
}
