import { HttpStatus, type NestInterceptor } from '@nestjs/common';
import type { DeclaredHandler } from '../../discovery/declared-handlers.js';
import {
  declaredStatusOf,
  enhancersOf,
  writesOwnResponse,
} from '../../discovery/nest-internals.js';
import { isRestRoute } from './access.js';
import { API_TAG, type ApiTagOptions } from './api-route.decorator.js';
import { collectionOf, type KeptSegments } from './created-path.js';
import { fieldsOf } from '../../fields/field.js';
import { type InputPlan, planInput } from './input-plan.js';
import {
  type ApiRouteOptions,
  declarationsOf,
  type RouteDeclarations,
} from './route-declarations.js';

/** What a handler declares. It is compiled once, at start, from the metadata of decorators. */
export interface RoutePlan extends DeclaredHandler, RouteDeclarations {
  /** What counts a request with a key against the limits. */
  readonly countedBy: 'guard' | 'handler' | 'nothing';
  /** Whether it is a route of the REST API: it refuses inputs that it does not declare. */
  readonly isRest: boolean;
  /** The status of a successful response. */
  readonly status: number;
  /** Whether the return value is sent in the REST envelope. Otherwise the handler may write the response itself. */
  readonly hasEnvelope: boolean;
  /** How its input is read. Undefined if Latitude does not read it: of webhooks, and of pages that declare no input. */
  readonly input: InputPlan | undefined;
  /** Whether the method or the controller has interceptors of a team, which can parse forms with files. */
  readonly parsesForms: boolean;
  /** Whether it supports `Idempotency-Key`, or `If-Match`. */
  readonly mayWrite: boolean;
  /** What implements them around the handler. Undefined if a global interceptor does. */
  readonly writes?: NestInterceptor;
  /** The interceptors of a team that run on it. */
  readonly interceptors: readonly unknown[];
  /** Where a created record is found, by the path of the route. */
  readonly collections: ReadonlyMap<string, KeptSegments>;
  readonly tag: ApiTagOptions | undefined;
  /** The fields of the response that are not stored for replays. */
  readonly secrets: readonly string[];
}

/**
 * Compiles the plans of handlers.
 * @param global the interceptors of a team for all routes
 * @param own interceptors of Latitude, which are not those of a team
 */
export function planRoutes(
  handlers: readonly DeclaredHandler[],
  global: readonly unknown[] = [],
  own: readonly unknown[] = [],
): RoutePlan[] {
  const reads = handlers
    .filter(({ httpMethod }) => httpMethod === 'GET')
    .flatMap(({ paths }) => paths);
  return handlers.map((declared) => {
    const { controller, handler, httpMethod, paths } = declared;
    const declarations = declarationsOf(handler);
    const { access, documentation } = declarations;
    const isRest = isRestRoute(access);
    const ofHandler = enhancersOf('interceptors', controller, handler).filter(
      (interceptor) => !own.includes(interceptor),
    );
    const parsesForms = ofHandler.length > 0;
    return {
      ...declared,
      ...declarations,
      countedBy: COUNTED_BY[access ?? ''] ?? 'guard',
      isRest,
      status: declaredStatusOf(handler) ?? (httpMethod === 'POST' ? CREATED : OK),
      hasEnvelope: (isRest || access === 'webhook') && !writesOwnResponse(controller, handler),
      input: access === 'webhook' ? undefined : planInput(declared, isRest, parsesForms),
      parsesForms,
      mayWrite: isRest && httpMethod !== 'GET' && !access.endsWith(':read'),
      interceptors: [...global, ...ofHandler],
      collections: new Map(paths.map((path) => [path, collectionOf(path, reads)])),
      secrets: secretsOf(documentation),
      tag: Reflect.getMetadata(API_TAG, controller) as ApiTagOptions | undefined,
    };
  });
}

const { CREATED, OK } = HttpStatus;

const COUNTED_BY: Readonly<Record<string, RoutePlan['countedBy']>> = {
  public: 'nothing',
  raw: 'handler',
};

function secretsOf(documentation: ApiRouteOptions | undefined): string[] {
  const [response] = [documentation?.response].flat();
  if (!response) return [];
  return fieldsOf(response).flatMap(({ name, isSecret }) => (isSecret ? [name] : []));
}
