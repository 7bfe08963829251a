import { RequestMethod, type Type } from '@nestjs/common';
import { MetadataScanner } from '@nestjs/core';
import { ACCESS, type Access, isRestRoute } from '../../auth/access.js';
import type { Scope } from '../../auth/scopes.js';
import { declaredPathsOf, declaredStatusOf, requestMethodOf } from '../nest-internals.js';
import { type InputTypes, inputTypesOf } from '../request/request-reader.js';
import {
  API_ROUTE,
  API_TAG,
  type ApiRouteOptions,
  type ApiTagOptions,
} from './api-route.decorator.js';

/** A route that requires a key. */
export interface Route {
  /** In lower case, as in OpenAPI. */
  readonly method: 'get' | 'put' | 'post' | 'delete' | 'patch';
  /** Has its parameters in braces, such as `/api/v1/leads/{id}`. */
  readonly path: string;
  /** The names of the controller and the handler, such as `leadsCreate`. */
  readonly operationId: string;
  readonly access: Scope | 'any-key';
  readonly tag: ApiTagOptions;
  readonly options?: ApiRouteOptions;
  readonly response?: ApiResponse;
  readonly inputs: InputTypes;
  readonly status: number;
}

/** A record of a DTO, or a page of them. */
export interface ApiResponse {
  readonly dto: Type<object>;
  readonly isPage: boolean;
}

/** Methods of OpenAPI. It has none for routes that answer every method. */
const METHODS: Readonly<Partial<Record<RequestMethod, Route['method']>>> = {
  [RequestMethod.GET]: 'get',
  [RequestMethod.PUT]: 'put',
  [RequestMethod.POST]: 'post',
  [RequestMethod.DELETE]: 'delete',
  [RequestMethod.PATCH]: 'patch',
};

/** Returns the routes of the controllers that require a key, sorted by path. */
export function routesOf(controllers: readonly Type<object>[]): readonly Route[] {
  return controllers
    .flatMap(routesOfController)
    .sort((a, b) => (a.path === b.path ? 0 : a.path < b.path ? -1 : 1));
}

function routesOfController(controller: Type<object>): Route[] {
  const prototype = controller.prototype as Record<string, object>;
  return new MetadataScanner()
    .getAllMethodNames(prototype)
    .flatMap((name) => routesOfHandler(controller, name, prototype[name] ?? {}));
}

function routesOfHandler(controller: Type<object>, name: string, handler: object): Route[] {
  const access = metadata<Access>(ACCESS, handler);
  const verb = requestMethodOf(handler);
  const method = verb === undefined ? undefined : METHODS[verb];
  // A route without declared access is never served.
  if (!method || !isRestRoute(access)) return [];
  const options = metadata<ApiRouteOptions>(API_ROUTE, handler);
  const route = {
    method,
    operationId: camelCase(baseName(controller), name),
    access,
    tag: metadata<ApiTagOptions>(API_TAG, controller) ?? { name: baseName(controller) },
    options,
    response: options && responseOf(options),
    inputs: inputTypesOf(controller, name),
    status: declaredStatusOf(handler) ?? (method === 'post' ? 201 : 200),
  } satisfies Omit<Route, 'path'>;
  return pathsOf(controller, handler).map((path, index) => {
    const operationId = index === 0 ? route.operationId : `${route.operationId}${index + 1}`;
    return { ...route, path, operationId };
  });
}

function responseOf({ response }: ApiRouteOptions): ApiResponse {
  const [dto] = [response].flat() as [Type<object>];
  return { dto, isPage: Array.isArray(response) };
}

/** Combines the paths of a controller and a handler. Nest allows one or several of each. */
export function pathsOf(controller: Type<object>, handler: object): string[] {
  return declaredPathsOf(controller).flatMap((base) =>
    declaredPathsOf(handler).map((end) => toOpenApiPath(`${base}/${end}`)),
  );
}

function toOpenApiPath(path: string): string {
  const parts = path.split('/').filter((part) => part !== '');
  return `/${parts.map((part) => part.replace(/^:(.+)$/, '{$1}')).join('/')}`;
}

function baseName(controller: Type<object>): string {
  return controller.name.replace(/Controller$/, '');
}

function camelCase(first: string, second: string): string {
  const lower = first.charAt(0).toLowerCase() + first.slice(1);
  return lower + second.charAt(0).toUpperCase() + second.slice(1);
}

function metadata<T>(key: unknown, target: object): T | undefined {
  return Reflect.getMetadata(key, target) as T | undefined;
}
