import { readFileSync } from 'node:fs';
import { VERSION } from '../../config/version.js';
import { documentedErrors } from '../../errors/error-catalogue.js';
import { CURSOR_META_SCHEMA, PAGE_META_SCHEMA } from '../../data/lists/page.js';
import base from './components.json' with { type: 'json' };
import { NOT_PLAIN, type OpenApiDocument, type Operation } from './model.js';
import { operationOf } from './operation.js';
import type { Components } from './responses.js';
import { type RestHandler, routePathsOf } from './routes.js';
import { type PlainRoutes, Schemas } from './schemas.js';
import { serversOf } from './server-url.js';

const INFO = {
  title: 'Latitude',
  version: VERSION,
  summary: 'Leads, appointments and tasks of many organizations',
  description: readFileSync(new URL('introduction.md', import.meta.url), 'utf8').trim(),
  contact: { name: 'Latitude' },
  license: { name: 'MIT', identifier: 'MIT' },
};

/**
 * Creates the OpenAPI document of the REST API from the plans of its routes.
 * @param serverUrl URL of the server, without a path
 * @param plain describes the plain routes of a team, if there are any
 */
export function documentOf(
  handlers: readonly RestHandler[],
  serverUrl: string,
  plain?: PlainRoutes,
): OpenApiDocument {
  const schemas = new Schemas(
    {
      ErrorCode: { ...base.schemas.ErrorCode, enum: documentedErrors().map(([code]) => code) },
      Error: base.schemas.Error,
      CursorMeta: CURSOR_META_SCHEMA,
      PageMeta: PAGE_META_SCHEMA,
    },
    plain,
  );
  const components: Components = { schemas, responses: {} };
  const paths: OpenApiDocument['paths'] = {};
  for (const route of routePathsOf(handlers)) {
    const described = plain ? plain.operationOf(route, schemas) : NOT_PLAIN;
    if (!described) continue;
    (paths[route.path] ??= {})[route.method] = operationOf(route, described, components);
  }
  return {
    openapi: '3.1.0',
    info: INFO,
    servers: serversOf(serverUrl),
    tags: tagsOf(Object.values(paths).flatMap(Object.values<Operation>), handlers),
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      securitySchemes: base.securitySchemes,
      schemas: schemas.all,
      responses: components.responses,
      headers: base.headers,
    },
  };
}

/** Returns the tags in the order of the modules; those of routes for every key are last. */
function tagsOf(operations: readonly Operation[], handlers: readonly RestHandler[]) {
  const declared = new Map(handlers.map(({ tag }) => [tag?.name, tag]));
  const rankOf = (operation: Operation) => ('x-required-scope' in operation ? 0 : 1);
  const ordered = operations.toSorted((a, b) => rankOf(a) - rankOf(b));
  const names = new Set(ordered.flatMap(({ tags }) => tags));
  return [...names].map((name) => declared.get(name) ?? { name });
}
