import { readFileSync } from 'node:fs';
import type { INestApplication, Type } from '@nestjs/common';
import { DiscoveryService, ModulesContainer } from '@nestjs/core';
import { type OpenAPIObject, type OperationObject, SwaggerModule } from '@nestjs/swagger';
import { isObject } from '../../fields/kinds/json-object.js';
import { VERSION } from '../../config/version.js';
import { documentedErrors } from '../../errors/error-catalogue.js';
import { CURSOR_META_SCHEMA, PAGE_META_SCHEMA } from '../../data/lists/page.js';
import base from './components.json' with { type: 'json' };
import { type OpenApiDocument, type Operation, refersTo, type Schema, schemaRef } from './model.js';
import { completeOperation, type Components } from './complete-operation.js';
import { hasGlobalGuard, type RestHandler, restHandlersOf, type Route } from './routes.js';
import { serversOf } from './server-url.js';
import { decorate, HANDLER, TYPES } from './swagger-decorators.js';

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

/**
 * Creates the OpenAPI document of the REST API: @nestjs/swagger makes it of decorators, and `completeOperation` adds
 * what they cannot say. This file is loaded on demand, because loading the package takes 0.2 s of CPU.
 * @param serverUrl URL of the server, without a path
 */
export function openApiDocument(app: INestApplication, serverUrl: string): OpenApiDocument {
  const discovery = new DiscoveryService(app.get(ModulesContainer));
  const controllers = discovery.getControllers().map(({ metatype }) => metatype as Type<object>);
  const handlers = restHandlersOf(controllers, hasGlobalGuard(discovery));
  decorate(handlers);
  const config = { openapi: '3.1.0', info: INFO };
  const described = SwaggerModule.createDocument(app, config, {
    ignoreGlobalPrefix: true,
    onlyIncludeDecoratedEndpoints: true,
    operationIdFactory: operationIds(),
  });
  const schemas = {
    ErrorCode: { ...base.schemas.ErrorCode, enum: documentedErrors().map(([code]) => code) },
    Error: base.schemas.Error,
    CursorMeta: CURSOR_META_SCHEMA,
    PageMeta: PAGE_META_SCHEMA,
  };
  const components: Components = { schemas, responses: {} };
  const paths = pathsOf(described, handlers, components);
  return {
    ...config,
    servers: serversOf(serverUrl),
    tags: tagsOf(Object.values(paths).flatMap(Object.values<Operation>), handlers),
    paths: Object.fromEntries(Object.entries(paths).sort(([a], [b]) => (a < b ? -1 : 1))),
    components: {
      securitySchemes: base.securitySchemes,
      ...components,
      headers: base.headers,
    },
  };
}

/** An operation of @nestjs/swagger with its handler. */
type Marked = OperationObject & { readonly [HANDLER]?: Pick<RestHandler, 'handler'> };

/** Completes the operations, in the order of the modules, and adds what they refer to to the components. */
function pathsOf(
  described: OpenAPIObject,
  handlers: readonly RestHandler[],
  components: Components,
): OpenApiDocument['paths'] {
  const adopt = adopter({ ...described.components?.schemas }, components.schemas);
  const paths: OpenApiDocument['paths'] = {};
  for (const [path, item] of Object.entries(described.paths)) {
    for (const method of METHODS) {
      const { [HANDLER]: mark, ...operation } = (item[method] ?? {}) as Marked;
      const handler = handlers.find((one) => one.handler === mark?.handler);
      if (!handler) continue;
      const route = { ...handler, method, path };
      (paths[path] ??= {})[method] = completeOperation(route, adopt(operation), components);
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

/**
 * Returns a function that copies a part of the document of @nestjs/swagger. The schemas to which it refers are added to
 * `schemas` by the names of their classes without `Dto`. Modules can have classes of the same name, so that @nestjs/swagger
 * knows DTOs with fields by a name with a number, such as `LeadDto.7` (see `decorateClass`).
 */
function adopter(described: Record<string, Schema>, schemas: Record<string, Schema>) {
  const names = new Map<string, string>();
  const free = freeNames(schemas);
  const adopt = <T extends object>(part: T): T =>
    JSON.parse(JSON.stringify(part), (_, value: unknown) => {
      if (isObject(value) && TYPES in value) {
        const { [TYPES]: type, ...schema } = value;
        return { ...schema, type };
      }
      const reference = refersTo(value);
      return reference === undefined ? value : schemaRef(nameOf(reference)).$ref;
    }) as T;
  const nameOf = (reference: string): string => {
    // A reference that a team has written with `getSchemaPath(LeadDto)` has no number.
    const numbered = Object.keys(described).find((one) => one.startsWith(`${reference}.`));
    const key = reference in described ? reference : numbered;
    const schema = key === undefined ? undefined : described[key];
    if (key === undefined || !schema) return reference;
    const known = names.get(key);
    if (known !== undefined) return known;
    const name = free(key.replace(/(Dto)?(\.\d+)?$/, ''));
    names.set(key, name);
    schemas[name] = {}; // A schema can refer to itself.
    schemas[name] = adopt(schema);
    return name;
  };
  return adopt;
}

/** Returns a function that appends a number to names that are in use. */
function freeNames(used: object): (name: string) => string {
  const taken = new Set(Object.keys(used));
  return (name) => {
    let free = name;
    for (let number = 2; taken.has(free); number++) free = `${name}${number}`;
    taken.add(free);
    return free;
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
