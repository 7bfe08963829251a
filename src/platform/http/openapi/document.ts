import { readFileSync } from 'node:fs';
import { VERSION } from '../../config/version.js';
import { type Components, completeOperation } from './complete-operation.js';
import components from './components.json' with { type: 'json' };
import type { OpenApiDocument, Operation } from './model.js';
import { declaredOperation } from './operation.js';
import { type RestPlan, type Route, routesOf } from './routes.js';
import { Schemas } from './schemas.js';
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
 * @param schemas those of DTOs of fields, or also of a team's other DTOs
 * @param describe describes a route by its declarations; undefined leaves it out of the document
 */
export function documentOf(
  plans: readonly RestPlan[],
  serverUrl: string,
  schemas = new Schemas(),
  describe: (route: Route) => Operation | undefined = (route) => declaredOperation(route, schemas),
): OpenApiDocument {
  const used: Components = { schemas, responses: {} };
  const paths: OpenApiDocument['paths'] = {};
  for (const route of routesOf(plans)) {
    const operation = describe(route);
    if (!operation) continue;
    (paths[route.path] ??= {})[route.method] = completeOperation(route, operation, used);
  }
  return {
    openapi: '3.1.0',
    info: INFO,
    servers: serversOf(serverUrl),
    tags: tagsOf(Object.values(paths).flatMap(Object.values<Operation>), plans),
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      securitySchemes: components.securitySchemes,
      schemas: schemas.all,
      responses: used.responses,
      headers: components.headers,
    },
  };
}

/** Returns the tags in the order of the modules; those of routes for every key are last. */
function tagsOf(operations: readonly Operation[], plans: readonly RestPlan[]) {
  const declared = new Map(plans.map(({ tag }) => [tag?.name, tag]));
  const rankOf = (operation: Operation) => ('x-required-scope' in operation ? 0 : 1);
  const ordered = operations.toSorted((a, b) => rankOf(a) - rankOf(b));
  const names = new Set(ordered.flatMap(({ tags }) => tags));
  return [...names].map((name) => declared.get(name) ?? { name });
}
