import {
  type DynamicModule,
  type ExceptionFilter,
  HttpStatus,
  type RequestMethod,
  StreamableFile,
  type Type,
} from '@nestjs/common';
import {
  FILTER_CATCH_EXCEPTIONS,
  GUARDS_METADATA,
  HTTP_CODE_METADATA,
  INTERCEPTORS_METADATA,
  METHOD_METADATA,
  MODULE_METADATA,
  HOST_METADATA,
  PATH_METADATA,
  PIPES_METADATA,
  REDIRECT_METADATA,
  RENDER_METADATA,
  RESPONSE_PASSTHROUGH_METADATA,
  ROUTE_ARGS_METADATA,
  SSE_METADATA,
  VERSION_METADATA,
} from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { ApplicationConfig } from '@nestjs/core';
import type { ExternalContextCreator } from '@nestjs/core/helpers/external-context-creator.js';

// The metadata of Nest's decorators. Its keys are not public API: everything that relies on them is in
// this file.

/** Returns the method of `@Get()`, `@Post()` and similar decorators; undefined for a method without one. */
export function requestMethodOf(handler: object): RequestMethod | undefined {
  return Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
}

/** Combines the paths of a controller and a handler. Nest allows one or several of each. */
export function routePathsOf(controller: object, handler: object): string[] {
  const pathsOf = (target: object) =>
    [(Reflect.getMetadata(PATH_METADATA, target) as string | string[] | undefined) ?? ''].flat();
  return pathsOf(controller).flatMap((base) =>
    pathsOf(handler).map((end) =>
      `/${base}/${end}`.replaceAll(/\/+/g, '/').replace(/(.)\/$/, '$1'),
    ),
  );
}

/** Whether `@Version()` or `@Controller({ version })` declares a version. */
export function hasVersion(controller: object, handler: object): boolean {
  return [controller, handler].some(
    (target) => Reflect.getMetadata(VERSION_METADATA, target) !== undefined,
  );
}

/** Returns the host of `@Controller({ host })`, whose routes other hosts do not have. */
export function hostOf(controller: object): unknown {
  return Reflect.getMetadata(HOST_METADATA, controller);
}

/** Returns the status of `@HttpCode()` or `@Redirect()`. */
export function declaredStatusOf(handler: object): number | undefined {
  const redirect = Reflect.getMetadata(REDIRECT_METADATA, handler) as
    { statusCode?: number } | undefined;
  const status = Reflect.getMetadata(HTTP_CODE_METADATA, handler) as number | undefined;
  return redirect ? (redirect.statusCode ?? HttpStatus.FOUND) : status;
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
  // oxlint-disable-next-line typescript/no-unsafe-function-type -- as in ExecutionContext
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
  const takesResponse = [RouteParamtypes.RESPONSE, RouteParamtypes.NEXT].some((kind) =>
    hasKind(declaredParameters(controller, name), kind),
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

/** Where the value of a handler's parameter comes from. */
export type ParameterSource = 'query' | 'body' | 'param' | 'raw body';

/** A parameter of a handler with `@Query()`, `@Body()`, `@Param()` or `@RawBody()`. */
export interface HandlerParameter {
  readonly source: ParameterSource;
  /** The name in `@Query('name')`; undefined if the parameter takes the whole source. */
  readonly name: string | undefined;
  /** The declared type; `Object` for interfaces, undefined if the compiler has recorded none. */
  readonly type: Type<object> | undefined;
  /** The pipes of the decorator. */
  readonly pipes: readonly unknown[];
}

const SOURCES: Readonly<Partial<Record<number, ParameterSource>>> = {
  [RouteParamtypes.QUERY]: 'query',
  [RouteParamtypes.BODY]: 'body',
  [RouteParamtypes.PARAM]: 'param',
  [RouteParamtypes.RAW_BODY]: 'raw body',
};

/** Returns the parameters of a handler that carry input, in the order of their declaration. */
export function parametersOf(controller: Type<unknown>, method: string): HandlerParameter[] {
  const types = (Reflect.getMetadata('design:paramtypes', controller.prototype as object, method) ??
    []) as readonly (Type<object> | undefined)[];
  return Object.entries(declaredParameters(controller, method))
    .sort(([, a], [, b]) => a.index - b.index)
    .flatMap(([key, { index, data, pipes = [] }]) => {
      // The keys of custom decorators are random strings, which can begin with a digit.
      const source = SOURCES[Number(key.split(':')[0])];
      const name = typeof data === 'string' ? data : undefined;
      return source ? [{ source, name, type: types[index], pipes }] : [];
    });
}

/** Whether `@UseGuards()` declares guards on the controller or on the method. */
export function hasDeclaredGuards(controller: object, handler: object): boolean {
  return [controller, handler].some((target) => Reflect.hasMetadata(GUARDS_METADATA, target));
}

/** Returns the interceptors that `@UseInterceptors()` declares on the controller and on the method. */
export function declaredInterceptorsOf(controller: object, handler: object): unknown[] {
  return [controller, handler].flatMap(
    (target) => (Reflect.getMetadata(INTERCEPTORS_METADATA, target) ?? []) as unknown[],
  );
}

/** Returns the pipes that `@UsePipes()` declares on the controller and on the method. */
export function declaredPipesOf(controller: object, handler: object): unknown[] {
  return [controller, handler].flatMap(
    (target) => (Reflect.getMetadata(PIPES_METADATA, target) ?? []) as unknown[],
  );
}

/** Returns the pipes of `APP_PIPE` and `useGlobalPipes()`. */
export function globalPipesOf(contexts: ExternalContextCreator): unknown[] {
  const { pipesContextCreator } = contexts as unknown as {
    pipesContextCreator: { config: ApplicationConfig };
  };
  const { config } = pipesContextCreator;
  const ofRequests = config.getGlobalRequestPipes().map(({ metatype }) => metatype);
  return [...config.getGlobalPipes(), ...ofRequests];
}

/** The parameters with decorators. A key has the kind of the parameter and its index. */
type Parameters = Readonly<Record<string, DeclaredParameter>>;

interface DeclaredParameter {
  readonly index: number;
  readonly data?: unknown;
  readonly pipes?: readonly unknown[];
}

function declaredParameters(controller: Type<unknown>, method: string): Parameters {
  return (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Parameters;
}

function hasKind(parameters: Parameters, kind: RouteParamtypes): boolean {
  return Object.keys(parameters).some((key) => key.startsWith(`${kind}:`));
}
