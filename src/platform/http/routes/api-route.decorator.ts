import { SetMetadata, type StreamableFile, type Type } from '@nestjs/common';
import type { ErrorCode } from '../../errors/error-catalogue.js';
import type { HandlerDecorator } from '../../discovery/handler-decorator.js';
import type { CursorPage, Page } from '../../data/lists/page.js';
import type { Stored } from '../../data/records/stored-record.js';
import type { WithMeta } from './with-meta.js';

/** How the OpenAPI document describes a route, in addition to what the route itself declares. */
export interface ApiRouteOptions {
  readonly summary: string;
  /** The beginning of the description, to which the scope and the kind of operation are added. */
  readonly description?: string;
  /** The DTO of the response, or of each record of a page. */
  readonly response?: Type<object> | readonly [Type<object>];
  /** The content types of a response that is a file. */
  readonly files?: readonly string[];
  /** The DTO of `meta`, if it is not that of a page. The handler then returns `WithMeta`. */
  readonly meta?: Type<object>;
  /** Further statuses of successful responses, which have the same body. */
  readonly statuses?: readonly number[];
  /** How a list is paged. Default: by page numbers. */
  readonly paging?: 'cursor';
  /** The DTO of whole records, for a list with the parameters `after` and `fields`, which is also paged by cursor. */
  readonly record?: Type<object>;
  /** Error codes of this route, in addition to those of authentication, path and body. */
  readonly errors?: readonly ErrorCode[];
}

/** A tag of the OpenAPI document, which groups routes. */
export interface ApiTagOptions {
  readonly name: string;
  readonly description?: string;
}

export const API_ROUTE = Symbol('API route');
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
  return SetMetadata<symbol, ApiRouteOptions>(API_ROUTE, options);
}

/** Groups the routes of a controller under a tag of the OpenAPI document. */
export function ApiTag(name: string, description: string): ClassDecorator {
  return SetMetadata<symbol, ApiTagOptions>(API_TAG, { name, description });
}
