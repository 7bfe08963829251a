import type { IncomingHttpHeaders } from 'node:http';
import type { CustomDecorator, Type } from '@nestjs/common';
import type { Response } from 'express';
import type { Scope } from '../../access/scopes.js';
import type { Call } from '../../data/call.js';
import type { Includes } from '../../data/lists/includes.js';
import type { Settings } from '../../config/settings.js';
import type { ApiError } from '../../errors/api-error.js';
import type { ErrorCode } from '../../errors/error-catalogue.js';
import type { MaybePromise } from '../../maybe-promise.js';
import type { WebhookVerifier } from './webhook-verifier.js';

/** What the decorators of Latitude declare on a handler. */
export interface RouteDeclarations {
  /** Undefined if the handler declares none. Every request is then refused. */
  readonly access: Access | undefined;
  /** Scopes that a key needs in addition to that of the access. */
  readonly furtherScopes: readonly Scope[];
  readonly webhookVerifier: Type<WebhookVerifier> | undefined;
  readonly endpoint: Endpoint | undefined;
  /** Whether a POST takes no fields. */
  readonly takesNoBody: boolean;
  readonly bodyCheck: Type<BodyCheck> | undefined;
  /** The body, if the handler reads it as a file. */
  readonly file: FileBody | undefined;
  /** Whether one statement inserts the record and stores the response to an idempotent request. */
  readonly isSingleInsert: boolean;
  /** Whether the handler stores the response to an idempotent request itself. */
  readonly storesResponse: boolean;
  /** Whether a POST supports `If-Match`. */
  readonly isConditional: boolean;
  /** Whether a read writes an entry of the audit log. */
  readonly isAudited: boolean;
  /** Whether the keys of operators are accepted as well, without the scope of the route. */
  readonly acceptsOperators: boolean;
  readonly documentation: ApiRouteOptions | undefined;
}

/**
 * Who may call a route: keys with this scope, any valid key (`any-key` for REST, `raw` for handlers that write their own
 * response), keys of operators (`operator`), senders whose delivery is verified (`webhook`), or everyone (`public`).
 * `unknown-route` marks the fallback routes.
 */
export type Access = RestAccess | 'raw' | 'webhook' | 'public' | 'unknown-route';

/** Who may call a route of the REST API. */
export type RestAccess = Scope | 'any-key' | 'operator';

/**
 * What holds for a path and all paths below it, also where there is no route. They need a key, in place of which a caller
 * can send an access token.
 */
export interface Endpoint {
  /** @returns why a request is refused for its headers, before its key is looked up; undefined if it is not */
  readonly refusalOf: (headers: IncomingHttpHeaders, settings: Settings) => ApiError | undefined;
  /** @returns the message of the 404 at another path that clients of the endpoint request; undefined for the default */
  readonly hintAt: (path: string, settings: Settings) => string | undefined;
}

/** A provider that checks a valid body against the caller, such as the number of items against the rate limit. It reads no records. */
export interface BodyCheck {
  /** @throws ApiError `validation_error`, `rate_limit_exceeded` */
  assertAllowed(call: Call, body: object, response: Response): MaybePromise<void>;
}

/** A file that a handler reads itself, with `@FileStream()`: the body, or the only file of a form. */
export interface FileBody {
  /** Content types, in lower case. */
  readonly types: readonly string[];
  /** The content types of files in forms, by the extension of their name, for forms that do not tell their type. */
  readonly extensions: Readonly<Record<string, string>>;
  readonly maxBytes: number;
}

/** How the OpenAPI document describes a route, in addition to what the route itself declares. */
export interface ApiRouteOptions {
  readonly summary: string;
  /** The beginning of the description, to which the scope and the kind of operation are added. */
  readonly description?: string;
  /** The DTO of the response, or of each record of a page. */
  readonly response?: Type<object> | readonly [Type<object>];
  /**
   * The DTO of the response to a body with `dry_run: true`. Such a request stores no response for its `Idempotency-Key`, and
   * is answered with none.
   */
  readonly dryRun?: Type<object>;
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
  /** The DTO of deleted records, for a list with the parameter `deleted`. */
  readonly deleted?: Type<object>;
  /** The fields of other records that the parameter `include` adds. */
  readonly includes?: Includes;
  /** Error codes of this route, in addition to those of authentication, path and body. */
  readonly errors?: readonly ErrorCode[];
}

/** Returns the DTO of the declared response, which is one record or a page of records. */
export function responseDtoOf(options: ApiRouteOptions | undefined): Type<object> | undefined {
  return ([options?.response].flat() as [Type<object> | undefined])[0];
}

const DECLARATIONS = Symbol('declarations of a route');

const NOTHING_DECLARED: RouteDeclarations = {
  access: undefined,
  furtherScopes: [],
  webhookVerifier: undefined,
  endpoint: undefined,
  takesNoBody: false,
  bodyCheck: undefined,
  file: undefined,
  isSingleInsert: false,
  storesResponse: false,
  isConditional: false,
  isAudited: false,
  acceptsOperators: false,
  documentation: undefined,
};

/** Returns a decorator that adds to what a handler declares. */
export function declareRoute(declared: Partial<RouteDeclarations>): CustomDecorator<symbol> {
  const decorate = (target: object, _name?: string | symbol, method?: PropertyDescriptor) => {
    const handler = (method?.value ?? target) as object;
    Reflect.defineMetadata(DECLARATIONS, { ...declarationsOf(handler), ...declared }, handler);
  };
  return Object.assign(decorate, { KEY: DECLARATIONS });
}

/** Returns what the decorators of a handler declare. */
export function declarationsOf(handler: object): RouteDeclarations {
  return (Reflect.getMetadata(DECLARATIONS, handler) ?? NOTHING_DECLARED) as RouteDeclarations;
}
