import { HttpStatus, RequestMethod, type Type } from '@nestjs/common';
import { APP_GUARD, type DiscoveryService } from '@nestjs/core';
import { ACCESS, type Access, isRestRoute } from '../access.js';
import type { Scope } from '../../access/scopes.js';
import { type DeclaredHandler, handlersOf } from '../../discovery/declared-handlers.js';
import {
  declaredStatusOf,
  hasDeclaredGuards,
  requestMethodOf,
  writesOwnResponse,
} from '../../discovery/nest-internals.js';
import { takesNoBody } from '../request/no-body.decorator.js';
import { type InputTypes, inputTypesOf } from '../request/request-reader.js';
import {
  API_ROUTE,
  API_TAG,
  type ApiRouteOptions,
  type ApiTagOptions,
} from './api-route.decorator.js';

/** What a handler of the REST API declares. The document is made from nothing else. */
export interface RestHandler extends DeclaredHandler {
  readonly access: Scope | 'any-key';
  readonly tag?: ApiTagOptions;
  readonly options?: ApiRouteOptions;
  readonly inputs: InputTypes;
  readonly takesNoBody: boolean;
  /** The status of a successful response. */
  readonly status: number;
  /** Whether the return value is sent in the envelope. */
  readonly hasEnvelope: boolean;
  /** Whether a guard of a team runs, which can answer any error. */
  readonly isGuarded: boolean;
}

/** A route as its operation describes it. */
export interface Route extends RestHandler {
  readonly method: 'get' | 'put' | 'post' | 'delete' | 'patch';
  /** The path, with its parameters in braces, such as `/api/v1/leads/{id}`. */
  readonly path: string;
  readonly hasBody: boolean;
  /** Whether the response is one record, with its `ETag`. */
  readonly isRecord: boolean;
}

/**
 * Returns the handlers of the REST API in controllers.
 * @param isGuardedGlobally whether a guard of a team runs on all routes
 */
export function restHandlersOf(
  controllers: readonly Type<object>[],
  isGuardedGlobally = false,
): RestHandler[] {
  return handlersOf(controllers).flatMap((declared) => {
    const { controller, name, handler } = declared;
    const access = metadata<Access>(ACCESS, handler);
    if (!isRestRoute(access)) return [];
    const isPost = requestMethodOf(handler) === RequestMethod.POST;
    return {
      ...declared,
      access,
      tag: metadata<ApiTagOptions>(API_TAG, controller),
      options: metadata<ApiRouteOptions>(API_ROUTE, handler),
      inputs: inputTypesOf(controller, name),
      takesNoBody: takesNoBody(handler),
      status: declaredStatusOf(handler) ?? (isPost ? HttpStatus.CREATED : HttpStatus.OK),
      hasEnvelope: !writesOwnResponse(controller, handler),
      isGuarded: isGuardedGlobally || hasDeclaredGuards(controller, handler),
    };
  });
}

/** Whether a module of a team has a guard with `APP_GUARD`. Those of Latitude are in `HttpModule`. */
export function hasGlobalGuard(discovery: DiscoveryService): boolean {
  return discovery
    .getProviders()
    .some(({ token, host }) => String(token).startsWith(APP_GUARD) && host?.name !== 'HttpModule');
}

/** Returns the DTO of the declared response, which is one record or a page of records. */
export function responseDtoOf(options: ApiRouteOptions | undefined): Type<object> | undefined {
  return options && ([options.response].flat() as [Type<object> | undefined])[0];
}

function metadata<T>(key: unknown, target: object): T | undefined {
  return Reflect.getMetadata(key, target) as T | undefined;
}
