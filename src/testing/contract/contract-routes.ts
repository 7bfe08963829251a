import type { OpenApiDocument, Operation, Schema } from '../../platform/http/openapi/model.js';
import type { Answer, ApiClient } from '../api-client.js';
import type { Tenant } from '../test-server.js';

/** Makes a valid body for a route, with the records that it refers to. */
export type Sample = (tenant: Tenant) => object | Promise<object>;

/** A valid body for each POST of an extension, such as `POST /api/v1/notes`. */
export type Samples = Readonly<Record<string, Sample>>;

/** A route of an extension that requires a scope. */
export interface ContractRoute {
  /** Method and path as in the OpenAPI document, such as `GET /api/v1/notes/{id}`. */
  readonly name: string;
  readonly method: string;
  readonly path: string;
  readonly scope: string;
  /** Names of the query parameters. */
  readonly parameters: readonly string[];
  /** Names of the fields of the body. */
  readonly fields: readonly string[];
}

const UNKNOWN_ID = '01a1fbde-995e-72a3-a032-ab1c988b9794';

/** The routes whose scope belongs to the extension. */
export function routesOf(document: OpenApiDocument, scopes: readonly string[]): ContractRoute[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([verb, operation]) => {
      const scope = operation['x-required-scope'];
      if (scope === undefined || !scopes.includes(scope)) return [];
      const method = verb.toUpperCase();
      const { parameters = [] } = operation;
      return {
        name: `${method} ${path}`,
        ...{ method, path, scope },
        parameters: parameters.filter((one) => one.in === 'query').map(({ name }) => name),
        fields: fieldsOf(operation, document),
      };
    }),
  );
}

/** The path with an id in place of each parameter. */
function pathOf({ path }: ContractRoute, id = UNKNOWN_ID): string {
  return path.replaceAll(/\{[^}]+\}/g, encodeURIComponent(id));
}

/** Sends a request to a route. */
export function call(
  route: ContractRoute,
  api: ApiClient,
  { id, query = '', body }: { id?: string; query?: string; body?: unknown } = {},
): Promise<Answer> {
  const takesBody = route.method === 'POST' || route.method === 'PUT';
  return api.request(route.method, pathOf(route, id) + query, {
    body: takesBody ? (body ?? {}) : undefined,
  });
}

function fieldsOf({ requestBody }: Operation, document: OpenApiDocument): string[] {
  const schema = requestBody?.content['application/json']?.schema;
  return schema ? propertiesOf(schema, document) : [];
}

function propertiesOf(schema: Schema, document: OpenApiDocument): string[] {
  if ('$ref' in schema) {
    const name = schema.$ref.replace('#/components/schemas/', '');
    const target = document.components.schemas[name];
    return target ? propertiesOf(target, document) : [];
  }
  const parts = 'allOf' in schema ? (schema.allOf ?? []) : [];
  const inherited = parts.flatMap((part) => propertiesOf(part, document));
  return [...Object.keys(schema.properties ?? {}), ...inherited];
}
