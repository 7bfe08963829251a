import type { INestApplication, Type } from '@nestjs/common';
import { ApplicationConfig, type ModulesContainer } from '@nestjs/core';
import type { Module } from '@nestjs/core/injector/module.js';
import type { OpenAPIObject, OperationObject } from '@nestjs/swagger';
import { describeParameters, type Swagger } from './declared-parameters.js';
import { describedDtos, describeProperties } from './dto-properties.js';
import { responseDtoOf, type RestHandler, type Route } from './routes.js';

// What @nestjs/swagger reads beside its public decorators: everything that relies on it is in this file.

/** Static method in which the compiler plugin of @nestjs/swagger records the properties of a class. */
const METADATA_FACTORY = '_OPENAPI_METADATA_FACTORY';

/** Extension of an operation with the index of its handler. */
const HANDLER = 'x-handler';

export const OPENAPI_VERSION = '3.1.0';

const METHODS: readonly Route['method'][] = ['get', 'put', 'post', 'delete', 'patch'];

/** An operation as @nestjs/swagger describes it. */
export interface ExploredOperation extends Pick<Route, 'method' | 'path'> {
  readonly operation: OperationObject;
  readonly handler: RestHandler;
}

export interface Exploration {
  /** In the order in which the modules are imported. */
  readonly operations: readonly ExploredOperation[];
  readonly schemas: Readonly<Record<string, object>>;
  /** Returns the reference of a DTO among the schemas. */
  readonly refOf: (dto: Type<object>) => string;
}

/**
 * Has @nestjs/swagger describe handlers from the decorators of Nest, its own and those of class-validator.
 * The package is loaded on demand, because loading takes 0.2 s of CPU.
 */
export async function explore(
  modules: ModulesContainer,
  handlers: readonly RestHandler[],
): Promise<Exploration> {
  const swagger = await import('@nestjs/swagger');
  const { DECORATORS, getSchemaPath, SwaggerModule } = swagger;
  handlers.forEach((handler, index) => {
    markHandler(handler, index, DECORATORS);
  });
  defineProperties(handlers.flatMap((handler) => inputClassesOf(handler, swagger)));
  const config = { openapi: OPENAPI_VERSION, info: { title: '', version: '' } };
  const { paths, components } = SwaggerModule.createDocument(applicationOf(modules), config, {
    onlyIncludeDecoratedEndpoints: true,
    operationIdFactory: operationIds(),
  });
  return {
    operations: operationsIn(paths, handlers),
    schemas: { ...components?.schemas },
    refOf: getSchemaPath,
  };
}

type Keys = Readonly<
  Record<'API_INCLUDE_ENDPOINT' | 'API_EXTENSION' | 'API_EXTRA_MODELS' | 'API_TAGS', string>
>;

/** Includes a handler in the document, with its index, its response DTO and its tag. */
function markHandler({ controller, handler, tag, options }: RestHandler, index: number, key: Keys) {
  const previous = Reflect.getMetadata(key.API_EXTENSION, handler) as object | undefined;
  const models = (Reflect.getMetadata(key.API_EXTRA_MODELS, handler) ?? []) as unknown[];
  const response = responseDtoOf(options) ?? [];
  Reflect.defineMetadata(key.API_INCLUDE_ENDPOINT, true, handler);
  Reflect.defineMetadata(key.API_EXTENSION, { ...previous, [HANDLER]: index }, handler);
  Reflect.defineMetadata(key.API_EXTRA_MODELS, [...new Set([...models, response].flat())], handler);
  if (tag) Reflect.defineMetadata(key.API_TAGS, [tag.name], controller);
}

function inputClassesOf(handler: RestHandler, swagger: Swagger): Type<object>[] {
  const { body, query } = handler.inputs;
  return [body ?? [], query ?? [], describeParameters(handler, swagger)].flat();
}

/** Lets @nestjs/swagger ask DTOs for their properties, also for those without `@ApiProperty()`. */
function defineProperties(inputs: readonly Type<object>[]): void {
  for (const dto of describedDtos(inputs)) {
    if (Object.hasOwn(dto, METADATA_FACTORY)) continue;
    Object.defineProperty(dto, METADATA_FACTORY, {
      value(this: Type<object>) {
        return describeProperties(this);
      },
    });
  }
}

/** The parts of an application that `createDocument` reads. The command line has no application. */
function applicationOf(modules: ModulesContainer): INestApplication {
  const ordered = new Map(inOrderOfImport(modules.values()).map((module) => [module.id, module]));
  const { applicationId } = modules;
  const application = {
    container: { getModules: () => Object.assign(ordered, { applicationId }) },
    config: new ApplicationConfig(),
    getHttpAdapter: () => ({ getType: () => 'express' }),
  };
  return application as unknown as INestApplication;
}

/** Orders modules so that those of Latitude, which are imported first, are before those of a team. */
function inOrderOfImport(modules: Iterable<Module>, known = new Set<Module>()): Module[] {
  for (const module of modules) {
    if (known.has(module)) continue;
    known.add(module);
    inOrderOfImport(module.imports, known);
  }
  return [...known];
}

/** Names operations, such as `leadsList`, and `leadsList2` for the second of this name. */
function operationIds(): (controller: string, method: string) => string {
  const used = new Set<string>();
  return (controller, method) => {
    // The method of a handler with several paths ends with its index, such as `list[0]`.
    const handler = method.replace(/\[\d+\]$/, '');
    const name = lowerFirst(controller.replace(/Controller$/, '')) + upperFirst(handler);
    let id = name;
    for (let number = 2; used.has(id); number++) id = `${name}${number}`;
    used.add(id);
    return id;
  };
}

function operationsIn(
  paths: OpenAPIObject['paths'],
  handlers: readonly RestHandler[],
): ExploredOperation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const { [HANDLER]: index, ...operation } = (item[method] ?? {}) as Explored;
      const handler = index === undefined ? undefined : handlers[index];
      return handler ? [{ path, method, operation, handler }] : [];
    }),
  );
}

type Explored = OperationObject & { readonly [HANDLER]?: number };

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}

function upperFirst(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
