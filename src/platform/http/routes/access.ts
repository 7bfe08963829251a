import { applyDecorators, SetMetadata } from '@nestjs/common';
import { isScope, type Scope, SCOPES } from '../../access/scopes.js';

/**
 * Who may call a route: keys with this scope, any valid key (`any-key` for REST, `raw` for handlers
 * that write their own response), keys of operators (`operator`), senders whose delivery is verified (`webhook`), or everyone (`public`).
 * `unknown-route` marks the fallback routes.
 */
export type Access = RestAccess | 'raw' | 'webhook' | 'public' | 'unknown-route';

/** Who may call a route of the REST API. */
export type RestAccess = Scope | 'any-key' | 'operator';

export const ACCESS = Symbol('access');

export const FURTHER_SCOPES = Symbol('further scopes');

/**
 * Requires a key with this scope.
 * @param further scopes that the key needs as well
 */
export const RequireScope = (scope: Scope, ...further: Scope[]) =>
  applyDecorators(
    SetMetadata<symbol, Access>(ACCESS, scope),
    SetMetadata<symbol, readonly Scope[]>(FURTHER_SCOPES, further),
  );

/** Requires a valid key, with any scopes. */
export const AnyKey = () => SetMetadata<symbol, Access>(ACCESS, 'any-key');

/** Requires the key of an operator, which no other route accepts. */
export const OperatorKey = () => SetMetadata<symbol, Access>(ACCESS, 'operator');

/** Whether a route may write, and so supports idempotency keys and `If-Match`. */
export function mayWrite(access: RestAccess): boolean {
  return !access.endsWith(':read');
}

/**
 * Requires a valid key. The handler reads the request, counts it against the rate limit and writes the
 * response itself, without the envelope.
 */
export const RawRoute = () => SetMetadata<symbol, Access>(ACCESS, 'raw');

/**
 * Declares a page without authentication (docs/contract/running.md#public-pages). It is not rate
 * limited, and the return value of the handler is sent without the envelope. Query and body are read only
 * if the handler declares them.
 */
export const Public = () => SetMetadata<symbol, Access>(ACCESS, 'public');

/** Matches every path. The braces make it match `/` as well. */
export const CATCH_ALL_PATH = '{*path}';

/** Declares the fallback for requests that match no other route. */
export const UnknownRoute = () => SetMetadata<symbol, Access>(ACCESS, 'unknown-route');

/** Whether a route is a REST route: its input is a DTO, and its response has the envelope. */
export function isRestRoute(access: Access | undefined): access is RestAccess {
  return access === 'any-key' || access === 'operator' || isScope(access ?? '');
}

/**
 * Fails startup if a declaration requires a scope that does not exist.
 * @param subject the declaring route or tool, such as `GET /api/v1/leads`
 * @throws Error that names the subject and the scope
 */
export function assertKnownAccess(subject: string, access: string): void {
  if (isScope(access) || needsNoScope(access)) return;
  throw new Error(
    `${subject} requires the unknown scope ${access}. The scopes are ${SCOPES.join(', ')}.`,
  );
}

/** Whether a route requires no scope. */
export function needsNoScope(access: string): access is Exclude<Access, Scope> {
  return WITHOUT_SCOPE.has(access);
}

const WITHOUT_SCOPE: ReadonlySet<string> = new Set<Exclude<Access, Scope>>([
  'any-key',
  'operator',
  'raw',
  'webhook',
  'public',
  'unknown-route',
]);
