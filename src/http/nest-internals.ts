import type { RequestMethod, Type } from '@nestjs/common';
import {
  HTTP_CODE_METADATA,
  METHOD_METADATA,
  PATH_METADATA,
  ROUTE_ARGS_METADATA,
} from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';

// The metadata of Nest's decorators. Its keys are no public API: everything that relies on them is in
// this file.

/** Returns the method of `@Get()`, `@Post()` and their like; undefined for a method without one. */
export function requestMethodOf(handler: object): RequestMethod | undefined {
  return Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
}

/** Returns the paths of a controller or a handler. Nest allows one or several. */
export function declaredPathsOf(target: object): string[] {
  return [
    (Reflect.getMetadata(PATH_METADATA, target) as string | string[] | undefined) ?? '',
  ].flat();
}

/** Returns the status of `@HttpCode()`. */
export function declaredStatusOf(handler: object): number | undefined {
  return Reflect.getMetadata(HTTP_CODE_METADATA, handler) as number | undefined;
}

/** Returns the type of the first parameter of a method with `@Query()` or `@Body()`. */
export function parameterTypeOf(
  controller: Type<unknown>,
  method: string,
  source: 'query' | 'body',
): Type<object> | undefined {
  const kind = source === 'query' ? RouteParamtypes.QUERY : RouteParamtypes.BODY;
  const parameters = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Record<
    string,
    { index: number }
  >;
  const types = Reflect.getMetadata('design:paramtypes', controller.prototype as object, method) as
    Type<object>[] | undefined;
  const key = Object.keys(parameters).find((name) => name.startsWith(`${kind}:`));
  return key === undefined ? undefined : types?.[parameters[key]?.index ?? -1];
}
