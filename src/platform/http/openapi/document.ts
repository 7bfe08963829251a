import { readFileSync } from 'node:fs';
import { applyDecorators, type INestApplication } from '@nestjs/common';
import { DiscoveryService, ModulesContainer } from '@nestjs/core';
import * as swagger from '@nestjs/swagger';
import { VERSION } from '../../config/version.js';
import { controllersOf } from '../../discovery/declared-handlers.js';
import { ERROR_CATALOGUE } from '../../errors/error-catalogue.js';
import { CURSOR_META_SCHEMA, PAGE_META_SCHEMA } from '../../data/lists/page.js';
import base from './components.json' with { type: 'json' };
import { completeOperation, type Components } from './complete-operation.js';
import { ComponentSchemas, freeNames, introduce } from './component-schemas.js';
import type { OpenApiDocument, Operation } from './model.js';
import { hasGlobalGuard, type RestHandler, restHandlersOf, type Route } from './routes.js';
import { serversOf } from './server-url.js';

/** OpenAPI has more methods, which no route has. */
const METHODS: readonly Route['method'][] = ['get', 'put', 'post', 'delete', 'patch'];

const INFO = {
  title: 'Latitude',
  version: VERSION,
  summary: 'Leads, appointments and tasks of many organizations',
  description: readFileSync(new URL('introduction.md', import.meta.url), 'utf8').trim(),
  contact: { name: 'Latitude' },
  license: { name: 'MIT', identifier: 'MIT' },
};

/** Extension of an operation of @nestjs/swagger with its handler. */
const HANDLER = 'x-handler';

/**
 * Creates the OpenAPI document of the REST API: @nestjs/swagger reads the decorators of a team and of Nest, and
 * `completeOperation` adds what the plan of the route says. This file is loaded on demand, because loading the package takes
 * 0.2 s of CPU.
 * @param serverUrl URL of the server, without a path
 */
export function openApiDocument(app: INestApplication, serverUrl: string): OpenApiDocument {
  const discovery = new DiscoveryService(app.get(ModulesContainer));
  const handlers = restHandlersOf(controllersOf(discovery), hasGlobalGuard(discovery));
  handlers.forEach(include);
  const config = { openapi: '3.1.0', info: INFO };
  const described = swagger.SwaggerModule.createDocument(app, config, {
    ignoreGlobalPrefix: true,
    onlyIncludeDecoratedEndpoints: true,
    operationIdFactory: operationIds(),
    extraModels: introduce(handlers),
  });
  const schemas = new ComponentSchemas(described.components?.schemas ?? {}, {
    ErrorCode: { ...base.schemas.ErrorCode, enum: Object.keys(ERROR_CATALOGUE) },
    Error: base.schemas.Error,
    CursorMeta: CURSOR_META_SCHEMA,
    PageMeta: PAGE_META_SCHEMA,
  });
  const responses: Components['responses'] = {};
  const paths = pathsOf(described, handlers, { schemas, responses });
  return {
    ...config,
    servers: serversOf(serverUrl),
    tags: tagsOf(Object.values(paths).flatMap(Object.values<Operation>), handlers),
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      securitySchemes: base.securitySchemes,
      schemas: schemas.all,
      responses,
      headers: base.headers,
    },
  };
}

/** Adds a handler to the document of @nestjs/swagger. */
function include({ controller, name, handler, tag }: RestHandler): void {
  const tags = (Reflect.getMetadata(swagger.DECORATORS.API_TAGS, controller) ?? []) as string[];
  if (tag && !tags.includes(tag.name)) swagger.ApiTags(tag.name)(controller);
  const decorators = [swagger.ApiIncludeEndpoint(), swagger.ApiExtension(HANDLER, { handler })];
  applyDecorators(...decorators)(controller.prototype as object, name, { value: handler });
}

/** An operation of @nestjs/swagger with its handler. */
type Marked = swagger.OperationObject & { readonly [HANDLER]?: Pick<RestHandler, 'handler'> };

/** Completes the operations, in the order of the modules. */
function pathsOf(
  described: swagger.OpenAPIObject,
  handlers: readonly RestHandler[],
  components: Components,
): OpenApiDocument['paths'] {
  const paths: OpenApiDocument['paths'] = {};
  for (const [path, item] of Object.entries(described.paths)) {
    for (const method of METHODS) {
      const { [HANDLER]: mark, ...operation } = (item[method] ?? {}) as Marked;
      const handler = handlers.find((one) => one.handler === mark?.handler);
      if (!handler) continue;
      const route = { ...handler, method, path };
      (paths[path] ??= {})[method] = completeOperation(route, operation, components);
    }
  }
  return paths;
}

/** Names operations, such as `leadsList`, and `leadsList2` for the second of this name. */
function operationIds(): (controller: string, method: string) => string {
  const free = freeNames({});
  return (controller, method) => {
    // The method of a handler with several paths ends with its index, such as `list[0]`.
    const name = `${controller.replace(/Controller$/, '')}.${method.replace(/\[\d+\]$/, '')}`;
    const camelCase = name
      .replace(/^./, (first) => first.toLowerCase())
      .replace(/\.(.?)/, (_, next: string) => next.toUpperCase());
    return free(camelCase);
  };
}

/** Returns the tags in the order of the modules; those of routes for every key are last. */
function tagsOf(operations: readonly Operation[], handlers: readonly RestHandler[]) {
  const declared = new Map(handlers.map(({ tag }) => [tag?.name, tag]));
  const isForAnyKey = (operation: Operation) => Number(!('x-required-scope' in operation));
  const ordered = operations.toSorted((a, b) => isForAnyKey(a) - isForAnyKey(b));
  const names = new Set(ordered.flatMap(({ tags }) => tags));
  return [...names].map((name) => declared.get(name) ?? { name });
}
