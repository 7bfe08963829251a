import { type CallHandler, type ExecutionContext, HttpStatus, type Type } from '@nestjs/common';
import type { Observable } from 'rxjs';
import type { DeclaredHandler } from '../../discovery/declared-handlers.js';
import {
  declaredInterceptorsOf,
  declaredPipesOf,
  declaredStatusOf,
  writesOwnResponse,
} from '../../discovery/nest-internals.js';
import type { Scope } from '../../access/scopes.js';
import { ACCESS, type Access, FURTHER_SCOPES, isRestRoute, mayWrite } from './access.js';
import {
  API_ROUTE,
  API_TAG,
  type ApiRouteOptions,
  type ApiTagOptions,
} from './api-route.decorator.js';
import { collectionOf, type KeptSegments } from './created-path.js';
import {
  BODY_CHECK,
  type BodyCheck,
  CONDITIONAL,
  FILE_BODY,
  type FileBody,
  SINGLE_INSERT,
} from './handler-declarations.js';
import { fieldsOf } from '../../fields/field.js';
import { type InputPlan, type InputTypes, inputTypesOf, planInputs } from './input-plan.js';
import { WEBHOOK_VERIFIER, type WebhookVerifier } from './webhook.decorator.js';

/** What a handler declares. It is compiled once, at start, from the metadata of decorators. */
export interface RoutePlan extends DeclaredHandler {
  /** Undefined if the handler declares none. Every request is then refused. */
  readonly access: Access | undefined;
  /** Scopes that a key needs in addition to that of the access. */
  readonly furtherScopes: readonly Scope[];
  /** What counts a request with a key against the limits. */
  readonly countedBy: 'guard' | 'handler' | 'nothing';
  /** Whether it is a route of the REST API: it refuses inputs that it does not declare. */
  readonly isRest: boolean;
  /** The status of a successful response. */
  readonly status: number;
  /** Whether the return value is sent in the REST envelope. Otherwise the handler may write the response itself. */
  readonly hasEnvelope: boolean;
  /** The DTOs that it declares with `@Query()` and `@Body()`. */
  readonly inputs: InputTypes;
  /** How its input is read. Undefined if the handler reads the request itself. */
  readonly input: InputPlan | undefined;
  /** Why its input cannot be read, as a predicate that follows the name of the route. */
  readonly inputFault: string | undefined;
  /** Whether the method or the controller has interceptors of a team, which can parse forms with files. */
  readonly parsesForms: boolean;
  readonly bodyCheck: Type<BodyCheck> | undefined;
  /** The body, if the handler reads it as a file. */
  readonly file: FileBody | undefined;
  readonly webhookVerifier: Type<WebhookVerifier> | undefined;
  /** Whether it supports `Idempotency-Key`, or `If-Match`. */
  readonly mayWrite: boolean;
  /** What implements them in an application. Undefined in a plan that was compiled from metadata alone. */
  readonly writes?: WriteRules;
  /** Whether one statement inserts the record and stores the response to an idempotent request. */
  readonly isSingleInsert: boolean;
  /** Whether a POST supports `If-Match`. */
  readonly isConditional: boolean;
  /** The interceptors of a team that run on it. */
  readonly interceptors: readonly unknown[];
  /** Whether one of them surrounds the interceptor of Latitude, and so receives its result. */
  readonly isSurrounded: boolean;
  /** Where a created record is found, by the path of the route. */
  readonly collections: ReadonlyMap<string, KeptSegments>;
  readonly documentation: ApiRouteOptions | undefined;
  readonly tag: ApiTagOptions | undefined;
  /** The fields of the response that are not stored for replays. */
  readonly secrets: readonly string[];
}

/** What implements `Idempotency-Key` and `If-Match`. */
export interface WriteRules {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown>;
}

/** What a team registers for all routes. */
export interface GlobalEnhancers {
  readonly pipes: readonly unknown[];
  readonly interceptors: readonly unknown[];
  /** Whether there are interceptors of `useGlobalInterceptors()`, which come before those with `APP_INTERCEPTOR`. */
  readonly hasOuterInterceptors: boolean;
}

const NO_ENHANCERS: GlobalEnhancers = { pipes: [], interceptors: [], hasOuterInterceptors: false };

/**
 * Compiles the plans of handlers.
 * @param own interceptors of Latitude, which are not those of a team
 */
export function planRoutes(
  handlers: readonly DeclaredHandler[],
  enhancers = NO_ENHANCERS,
  own: readonly unknown[] = [],
): RoutePlan[] {
  const reads = handlers
    .filter(({ httpMethod }) => httpMethod === 'GET')
    .flatMap(({ paths }) => paths);
  return handlers.map((declared) => {
    const { controller, name, handler, httpMethod, paths } = declared;
    const declaration = <T>(key: symbol) => Reflect.getMetadata(key, handler) as T | undefined;
    const access = declaration<Access>(ACCESS);
    const isRest = isRestRoute(access);
    const ofHandler = declaredInterceptorsOf(controller, handler).filter(
      (interceptor) => !own.includes(interceptor),
    );
    const pipes = [...declaredPipesOf(controller, handler), ...enhancers.pipes];
    return {
      ...declared,
      access,
      furtherScopes: declaration<readonly Scope[]>(FURTHER_SCOPES) ?? [],
      countedBy: COUNTED_BY[access ?? ''] ?? 'guard',
      isRest,
      status: declaredStatusOf(handler) ?? (httpMethod === 'POST' ? CREATED : OK),
      hasEnvelope: (isRest || access === 'webhook') && !writesOwnResponse(controller, handler),
      inputs: inputTypesOf(controller, name),
      ...inputOf(declared, access, pipes),
      parsesForms: ofHandler.length > 0,
      bodyCheck: declaration<Type<BodyCheck>>(BODY_CHECK),
      file: declaration<FileBody>(FILE_BODY),
      webhookVerifier: declaration<Type<WebhookVerifier>>(WEBHOOK_VERIFIER),
      mayWrite: isRest && httpMethod !== 'GET' && mayWrite(access),
      isSingleInsert: declaration(SINGLE_INSERT) === true,
      isConditional: declaration(CONDITIONAL) === true,
      interceptors: [...enhancers.interceptors, ...ofHandler],
      isSurrounded: enhancers.hasOuterInterceptors,
      collections: new Map(paths.map((path) => [path, collectionOf(path, reads)])),
      documentation: declaration<ApiRouteOptions>(API_ROUTE),
      secrets: secretsOf(declaration<ApiRouteOptions>(API_ROUTE)),
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

function inputOf(
  declared: DeclaredHandler,
  access: Access | undefined,
  pipes: readonly unknown[],
): Pick<RoutePlan, 'input' | 'inputFault'> {
  if (access === 'webhook') return { input: undefined, inputFault: undefined };
  try {
    const isRest = isRestRoute(access);
    const input = planInputs(declared, isRest, pipes);
    return { input: isRest || input.declaresInput ? input : undefined, inputFault: undefined };
  } catch (error) {
    return { input: undefined, inputFault: (error as Error).message };
  }
}
