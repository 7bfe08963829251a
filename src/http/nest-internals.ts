import {
  type DynamicModule,
  type ExceptionFilter,
  type RequestMethod,
  StreamableFile,
  type Type,
} from '@nestjs/common';
import {
  FILTER_CATCH_EXCEPTIONS,
  HTTP_CODE_METADATA,
  METHOD_METADATA,
  MODULE_METADATA,
  PATH_METADATA,
  REDIRECT_METADATA,
  RENDER_METADATA,
  RESPONSE_PASSTHROUGH_METADATA,
  ROUTE_ARGS_METADATA,
  SSE_METADATA,
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

/** Returns the controllers that a module declares. */
export function controllersIn(module: Type<unknown> | DynamicModule): Type<unknown>[] {
  if ('module' in module) return [...controllersIn(module.module), ...(module.controllers ?? [])];
  return (Reflect.getMetadata(MODULE_METADATA.CONTROLLERS, module) ?? []) as Type<unknown>[];
}

/** Returns the exceptions of `@Catch()`; an empty array stands for all. */
export function caughtTypesOf(filter: ExceptionFilter): readonly Type<unknown>[] {
  const prototype = Object.getPrototypeOf(filter) as object;
  return (Reflect.getMetadata(FILTER_CATCH_EXCEPTIONS, prototype) ?? []) as Type<unknown>[];
}

/** Returns the template of `@Render()`. */
export function renderedTemplateOf(handler: object): string | undefined {
  return Reflect.getMetadata(RENDER_METADATA, handler) as string | undefined;
}

/**
 * Whether the return value of a handler is not the body of the response: it redirects, renders a page,
 * sends events, or writes the response itself.
 */
export function writesOwnResponse(
  controller: Type<unknown>,
  // eslint-disable-next-line @typescript-eslint/no-unsafe-function-type -- as in ExecutionContext
  handler: Function,
): boolean {
  const { name } = handler;
  if (
    [REDIRECT_METADATA, RENDER_METADATA, SSE_METADATA].some((key) =>
      Reflect.hasMetadata(key, handler),
    )
  ) {
    return true;
  }
  const takesResponse = [RouteParamtypes.RESPONSE, RouteParamtypes.NEXT].some(
    (kind) => keyOf(parametersOf(controller, name), kind) !== undefined,
  );
  return (
    takesResponse && Reflect.getMetadata(RESPONSE_PASSTHROUGH_METADATA, controller, name) !== true
  );
}

const DEFAULT_ERROR_HANDLER = String(new StreamableFile(Buffer.alloc(0)).errorHandler);

/** Whether nobody has called `setErrorHandler`. Each file has a closure of its own. */
export function hasDefaultErrorHandler(file: StreamableFile): boolean {
  return String(file.errorHandler) === DEFAULT_ERROR_HANDLER;
}

/** Returns the type of the first parameter of a method with `@Query()` or `@Body()`. */
export function parameterTypeOf(
  controller: Type<unknown>,
  method: string,
  source: 'query' | 'body',
): Type<object> | undefined {
  const kind = source === 'query' ? RouteParamtypes.QUERY : RouteParamtypes.BODY;
  const parameters = parametersOf(controller, method);
  const types = Reflect.getMetadata('design:paramtypes', controller.prototype as object, method) as
    Type<object>[] | undefined;
  const key = keyOf(parameters, kind);
  return key === undefined ? undefined : types?.[parameters[key]?.index ?? -1];
}

/** The parameters with decorators. A key has the kind of the parameter and its index. */
type Parameters = Readonly<Record<string, { readonly index: number }>>;

function parametersOf(controller: Type<unknown>, method: string): Parameters {
  return (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Parameters;
}

function keyOf(parameters: Parameters, kind: RouteParamtypes): string | undefined {
  return Object.keys(parameters).find((name) => name.startsWith(`${kind}:`));
}
