import { HttpStatus, type NestInterceptor, type Type } from '@nestjs/common';
import type { DeclaredHandler } from '../../discovery/declared-handlers.js';
import {
  declaredStatusOf,
  enhancersOf,
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
import { type InputPlan, planInput } from './input-plan.js';
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
  /** How its input is read. Undefined if Latitude does not read it: of webhooks, and of pages that declare no input. */
  readonly input: InputPlan | undefined;
  /** Whether the method or the controller has interceptors of a team, which can parse forms with files. */
  readonly parsesForms: boolean;
  readonly bodyCheck: Type<BodyCheck> | undefined;
  /** The body, if the handler reads it as a file. */
  readonly file: FileBody | undefined;
  readonly webhookVerifier: Type<WebhookVerifier> | undefined;
  /** Whether it supports `Idempotency-Key`, or `If-Match`. */
  readonly mayWrite: boolean;
  /** What implements them around the handler. Undefined if a global interceptor does. */
  readonly writes?: NestInterceptor;
  /** Whether one statement inserts the record and stores the response to an idempotent request. */
  readonly isSingleInsert: boolean;
  /** Whether a POST supports `If-Match`. */
  readonly isConditional: boolean;
  /** The interceptors of a team that run on it. */
  readonly interceptors: readonly unknown[];
  /** Where a created record is found, by the path of the route. */
  readonly collections: ReadonlyMap<string, KeptSegments>;
  readonly documentation: ApiRouteOptions | undefined;
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
    const declaration = <T>(key: symbol) => Reflect.getMetadata(key, handler) as T | undefined;
    const access = declaration<Access>(ACCESS);
    const isRest = isRestRoute(access);
    const ofHandler = enhancersOf('interceptors', controller, handler).filter(
      (interceptor) => !own.includes(interceptor),
    );
    const parsesForms = ofHandler.length > 0;
    return {
      ...declared,
      access,
      furtherScopes: declaration<readonly Scope[]>(FURTHER_SCOPES) ?? [],
      countedBy: COUNTED_BY[access ?? ''] ?? 'guard',
      isRest,
      status: declaredStatusOf(handler) ?? (httpMethod === 'POST' ? CREATED : OK),
      hasEnvelope: (isRest || access === 'webhook') && !writesOwnResponse(controller, handler),
      input: access === 'webhook' ? undefined : planInput(declared, isRest, parsesForms),
      parsesForms,
      bodyCheck: declaration<Type<BodyCheck>>(BODY_CHECK),
      file: declaration<FileBody>(FILE_BODY),
      webhookVerifier: declaration<Type<WebhookVerifier>>(WEBHOOK_VERIFIER),
      mayWrite: isRest && httpMethod !== 'GET' && mayWrite(access),
      isSingleInsert: declaration(SINGLE_INSERT) === true,
      isConditional: declaration(CONDITIONAL) === true,
      interceptors: [...global, ...ofHandler],
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
