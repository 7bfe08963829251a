import { applyDecorators, Get, Header } from '@nestjs/common';
import { isScope, type Scope, SCOPES } from '../../access/scopes.js';
import {
  type Access,
  declareRoute,
  type RestAccess,
  type RouteDeclarations,
} from './route-declarations.js';

/**
 * Requires a key with this scope.
 * @param further scopes that the key needs as well
 */
export const RequireScope = (scope: Scope, ...further: Scope[]) =>
  applyDecorators(declareRoute({ access: scope, furtherScopes: further }));

/** Requires a valid key, with any scopes. */
export const AnyKey = () => declareRoute({ access: 'any-key' });

/** Requires the key of an operator, which no other route accepts. */
export const OperatorKey = () => declareRoute({ access: 'operator' });

/** Requires a key with this scope, or the key of an operator. */
export const RequireScopeOrOperator = (scope: Scope) =>
  declareRoute({ access: scope, acceptsOperators: true });

/**
 * Requires a valid key. The handler reads the request, counts it against the rate limit and writes the
 * response itself, without the envelope.
 */
export const RawRoute = () => declareRoute({ access: 'raw' });

/**
 * Declares a page without authentication (docs/contract/running.md#public-pages). It is not rate
 * limited, and the return value of the handler is sent without the envelope. Query and body are read only
 * if the handler declares them.
 */
export const Public = () => declareRoute({ access: 'public' });

/** Declares a public page, and headers of its response. */
export const PublicPage = (
  path: string | string[],
  headers: Readonly<Record<string, string>> = {},
): MethodDecorator => {
  const all = Object.entries(headers).map(([name, value]) => Header(name, value));
  return applyDecorators(Get(path), Public(), ...all);
};

/** Matches every path. The braces make it match `/` as well. */
export const CATCH_ALL_PATH = '{*path}';

/** Declares the fallback for requests that match no other route. */
export const UnknownRoute = () => declareRoute({ access: 'unknown-route' });

/** Whether a route is a REST route: its input is a DTO, and its response has the envelope. */
export function isRestRoute(access: Access | undefined): access is RestAccess {
  return access === 'any-key' || access === 'operator' || isScope(access ?? '');
}

/** Whether an access is that of a declared scope, or requires none. */
export function isKnownAccess(access: string): boolean {
  return isScope(access) || needsNoScope(access);
}

/**
 * The message for a declaration that requires a scope that does not exist.
 * @param subject the declaring route or tool, such as `GET /api/v1/leads`
 */
export function unknownScope(subject: string, scope: string): string {
  return `${subject} requires the unknown scope ${scope}. The scopes are ${SCOPES.join(', ')}.`;
}

/** The scopes that a key needs for a route. */
export function requiredScopes({
  access,
  furtherScopes,
}: Pick<RouteDeclarations, 'access' | 'furtherScopes'>): readonly Scope[] {
  return access === undefined || needsNoScope(access) ? furtherScopes : [access, ...furtherScopes];
}

/** Whether a route requires no scope. */
function needsNoScope(access: string): access is Exclude<Access, Scope> {
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
