import { HttpStatus, type RequestMethod, type Type } from '@nestjs/common';
import {
  GUARDS_METADATA,
  HTTP_CODE_METADATA,
  INTERCEPTORS_METADATA,
  METHOD_METADATA,
  MODULE_PATH,
  PATH_METADATA,
  PIPES_METADATA,
  REDIRECT_METADATA,
  RENDER_METADATA,
  RESPONSE_PASSTHROUGH_METADATA,
  ROUTE_ARGS_METADATA,
  SSE_METADATA,
} from '@nestjs/common/constants.js';
import { RouteParamtypes } from '@nestjs/common/enums/route-paramtypes.enum.js';
import type { ModulesContainer } from '@nestjs/core';

// The metadata of Nest's decorators. Its keys are not public API: everything that relies on them is in
// this file. An export would make it superfluous: https://github.com/nestjs/nest/issues/4232

/** Returns the method of `@Get()`, `@Post()` and similar decorators; undefined for a method without one. */
export function requestMethodOf(handler: object): RequestMethod | undefined {
  return Reflect.getMetadata(METHOD_METADATA, handler) as RequestMethod | undefined;
}

/** Returns the path that `RouterModule` has set for a module of an application. */
export function modulePathOf(
  module: object,
  { applicationId }: Pick<ModulesContainer, 'applicationId'>,
): string {
  const keys = [`${MODULE_PATH}${applicationId}`, MODULE_PATH];
  const paths = keys.map((key) => Reflect.getMetadata(key, module) as string | undefined);
  return paths.find((path) => path !== undefined) ?? '';
}

/** Combines the paths of modules, a controller and a handler. Nest allows one or several of each. */
export function routePathsOf(
  prefixes: readonly string[],
  controller: object,
  handler: object,
): string[] {
  const pathsOf = (target: object) =>
    [(Reflect.getMetadata(PATH_METADATA, target) as string | string[] | undefined) ?? ''].flat();
  const bases = prefixes.flatMap((prefix) =>
    pathsOf(controller).map((base) => `${prefix}/${base}`),
  );
  return bases.flatMap((base) =>
    pathsOf(handler).map((end) =>
      `/${base}/${end}`.replaceAll(/\/+/g, '/').replace(/(.)\/$/, '$1'),
    ),
  );
}

/** Returns the status of `@HttpCode()` or `@Redirect()`. */
export function declaredStatusOf(handler: object): number | undefined {
  const redirect = Reflect.getMetadata(REDIRECT_METADATA, handler) as
    { statusCode?: number } | undefined;
  const status = Reflect.getMetadata(HTTP_CODE_METADATA, handler) as number | undefined;
  return redirect ? (redirect.statusCode ?? HttpStatus.FOUND) : status;
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
  const answers = [REDIRECT_METADATA, RENDER_METADATA, SSE_METADATA];
  if (answers.some((key) => Reflect.hasMetadata(key, handler))) return true;
  if (Reflect.getMetadata(RESPONSE_PASSTHROUGH_METADATA, controller, name) === true) return false;
  const { RESPONSE, NEXT } = RouteParamtypes;
  const parameters = Object.keys(declaredParameters(controller, name));
  return parameters.some((key) => key.startsWith(`${RESPONSE}:`) || key.startsWith(`${NEXT}:`));
}

/** Where the value of a handler's parameter comes from. */
export type ParameterSource = 'query' | 'body' | 'param';

/** A parameter of a handler with `@Query()`, `@Body()` or `@Param()`. */
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

/** Whether a class is a `@WebSocketGateway()` of `@nestjs/websockets`, an optional package. */
export function isGateway(type: object): boolean {
  return Reflect.hasMetadata('websockets:is_gateway', type);
}

/** The key of `@MessagePattern()`, `@EventPattern()` and `@GrpcMethod()` of `@nestjs/microservices`, an optional package. */
export const MESSAGE_PATTERN = 'microservices:pattern';

const ENHANCERS = {
  guards: GUARDS_METADATA,
  interceptors: INTERCEPTORS_METADATA,
  pipes: PIPES_METADATA,
} as const;

/** Returns what decorators such as `@UseGuards()` declare on controllers and methods. */
export function enhancersOf(kind: keyof typeof ENHANCERS, ...targets: object[]): unknown[] {
  return targets.flatMap(
    (target) => (Reflect.getMetadata(ENHANCERS[kind], target) ?? []) as unknown[],
  );
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
