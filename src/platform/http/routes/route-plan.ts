import {
  type ExecutionContext,
  type HttpException,
  HttpStatus,
  type NestInterceptor,
} from '@nestjs/common';
import type { Response } from 'express';
import type { DeclaredHandler } from '../../discovery/declared-handlers.js';
import { declaredStatusOf, writesOwnResponse } from '../../discovery/nest-internals.js';
import { isRestRoute, requiredScopes } from './access.js';
import { API_TAG, type ApiTagOptions } from './api-route.decorator.js';
import type { Scope } from '../../access/scopes.js';
import type { FieldProblem } from '../../errors/field-problem.js';
import { fieldsOf } from '../../fields/field.js';
import type { MaybePromise } from '../../maybe-promise.js';
import { type InputPlan, planInput } from './input-plan.js';
import {
  type ApiRouteOptions,
  declarationsOf,
  responseDtoOf,
  type RouteDeclarations,
} from './route-declarations.js';

/** Indexes of the path segments that form the path of a collection. */
type KeptSegments = readonly number[];

/** What a handler declares. It is compiled once, at start, from the metadata of decorators. */
export interface RoutePlan extends DeclaredHandler, RouteDeclarations {
  /** What counts a request with a key against the limits. */
  readonly countedBy: 'guard' | 'handler' | 'nothing';
  /** The scopes that a key needs. */
  readonly scopes: readonly Scope[];
  /** Whether it is a route of the REST API: it refuses inputs that it does not declare. */
  readonly isRest: boolean;
  /** The status of a successful response. */
  readonly status: number;
  /** Whether the return value is sent in the REST envelope. Otherwise the handler may write the response itself. */
  readonly hasEnvelope: boolean;
  /** How its input is read. Undefined if Latitude does not read it: of webhooks, and of pages that declare no input. */
  readonly input: InputPlan | undefined;
  /** Whether it supports `Idempotency-Key`, or `If-Match`. */
  readonly mayWrite: boolean;
  /** What implements `Idempotency-Key` around the handler of a POST. */
  readonly writes?: NestInterceptor;
  /** Where a created record is found, by the path of the route. */
  readonly collections: ReadonlyMap<string, KeptSegments>;
  readonly tag: ApiTagOptions | undefined;
  /** The fields of the response that are not stored for replays. */
  readonly secrets: readonly string[];
  /** What code of a team changes. Undefined if there is none on the route. */
  readonly team?: TeamHandling;
}

/** What guards, pipes and interceptors of a team change on a route. `platform/nest` implements it. */
export interface TeamHandling {
  /**
   * Counts a request against the limit that `@Throttle()` declares.
   * @throws ApiError `rate_limit_exceeded`
   */
  readonly count?: (context: ExecutionContext) => MaybePromise<void>;
  /** Serializes what the interceptors returned. */
  readonly serialize?: (response: Response, result: unknown) => SerializedResult;
  /** Finds the fields that an exception of a pipe is about. */
  readonly problemsOf?: (exception: HttpException) => FieldProblem[];
}

/** The body of a response, and the headers that describe the record in it. */
export interface SerializedResult {
  readonly location: string | null;
  readonly etag: string | null;
  readonly text: string;
}

/** Compiles the plans of handlers. */
export function planRoutes(handlers: readonly DeclaredHandler[]): RoutePlan[] {
  const reads = new Set(
    handlers
      .filter(({ httpMethod }) => httpMethod === 'GET')
      .flatMap(({ paths }) => paths.map(withoutParameterNames)),
  );
  return handlers.map((declared) => {
    const { controller, handler, httpMethod, paths } = declared;
    const declarations = declarationsOf(handler);
    const { access, documentation } = declarations;
    const isRest = isRestRoute(access);
    return {
      ...declared,
      ...declarations,
      countedBy: COUNTED_BY[access ?? ''] ?? 'guard',
      scopes: requiredScopes(declarations),
      isRest,
      status: declaredStatusOf(handler) ?? (httpMethod === 'POST' ? CREATED : OK),
      hasEnvelope: (isRest || access === 'webhook') && !writesOwnResponse(controller, handler),
      input: access === 'webhook' ? undefined : planInput(declared, isRest),
      mayWrite: isRest && httpMethod !== 'GET' && !access.endsWith(':read'),
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
  const response = responseDtoOf(documentation);
  if (!response) return [];
  return fieldsOf(response).flatMap(({ name, isSecret }) => (isSecret ? [name] : []));
}

/**
 * Returns the segments of the path of a POST below which GET finds the new record. It is the path itself if a GET
 * route exists below it, otherwise the nearest outer path with such a route. For example,
 * `POST /api/v1/leads/:id/quotes` creates `/api/v1/quotes/:id` if that is the GET route, and
 * `POST /api/v1/leads/upsert` creates `/api/v1/leads/:id`.
 * @param reads the paths of the GET routes, without the names of parameters
 */
function collectionOf(path: string, reads: ReadonlySet<string>): KeptSegments {
  const segments = path.split('/');
  const all = [...segments.keys()];
  const hasRecords = (kept: KeptSegments) => {
    const collection = kept.map((index) => segments[index]).join('/');
    return reads.has(withoutParameterNames(`${collection}/:id`));
  };
  for (let kept = all; ;) {
    if (hasRecords(kept)) return kept;
    const parent = kept.findLastIndex((index) => segments[index]?.startsWith(':'));
    if (parent < 1) break;
    kept = kept.toSpliced(parent - 1, 2);
  }
  const outer = all.slice(0, -1);
  return hasRecords(outer) ? outer : all;
}

/** Replaces the names of path parameters, so that equal routes have equal paths. */
function withoutParameterNames(path: string): string {
  return path.replaceAll(/:\w+/g, ':');
}
