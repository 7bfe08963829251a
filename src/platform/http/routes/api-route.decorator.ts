import { SetMetadata, type StreamableFile, type Type } from '@nestjs/common';
import type { HandlerDecorator } from '../../discovery/handler-decorator.js';
import type { CursorPage, Page } from '../../data/lists/page.js';
import type { Stored } from '../../data/records/stored-record.js';
import { type ApiRouteOptions, declareRoute } from './route-declarations.js';
import type { WithMeta } from './with-meta.js';

/** A tag of the OpenAPI document, which groups routes. */
export interface ApiTagOptions {
  readonly name: string;
  readonly description?: string;
}

export const API_TAG = Symbol('API tag');

/**
 * Describes a route in the OpenAPI document. The response is a record of a DTO or, in brackets, a page
 * of such records. The compiler checks that the handler returns it.
 */
export function ApiRoute<T extends object, M extends object>(
  options: ApiRouteOptions & { response: Type<T>; meta: Type<M> },
): HandlerDecorator<WithMeta<T | Stored<T>, M>>;
export function ApiRoute<T extends object, M extends object>(
  options: ApiRouteOptions & { response: readonly [Type<T>]; meta: Type<M> },
): HandlerDecorator<WithMeta<readonly T[], M>>;
export function ApiRoute<T extends object, D extends object>(
  options: ApiRouteOptions & { response: Type<T>; dryRun: Type<D> },
): HandlerDecorator<T | Stored<T> | D>;
export function ApiRoute<T extends object>(
  options: ApiRouteOptions & { response: Type<T> },
): HandlerDecorator<T | Stored<T>>;
export function ApiRoute<T extends object>(
  options: ApiRouteOptions & { response: readonly [Type<T>]; paging: 'cursor' },
): HandlerDecorator<CursorPage<T>>;
export function ApiRoute<T extends object>(
  options: ApiRouteOptions & { response: readonly [Type<T>]; record: Type<object> },
): HandlerDecorator<Page<T> | CursorPage<T>>;
export function ApiRoute<T extends object>(
  options: ApiRouteOptions & { response: readonly [Type<T>] },
): HandlerDecorator<Page<T>>;
export function ApiRoute(
  options: ApiRouteOptions & { files: readonly string[] },
): HandlerDecorator<StreamableFile>;
export function ApiRoute(options: ApiRouteOptions): HandlerDecorator<unknown> {
  return declareRoute({ documentation: options });
}

/** Groups the routes of a controller under a tag of the OpenAPI document. */
export function ApiTag(name: string, description: string): ClassDecorator {
  return SetMetadata<symbol, ApiTagOptions>(API_TAG, { name, description });
}
