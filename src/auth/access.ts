import { applyDecorators, SetMetadata, UseInterceptors } from '@nestjs/common';
import { ApiError, REALM } from '../errors/api-error.js';
import { WriteInterceptor } from '../rest/write.interceptor.js';
import { type Scope, SCOPES } from './scopes.js';

/**
 * Who may call a route: holders of a key with this scope, holders of any valid key, over REST or
 * by a protocol of its own, everyone, or, for the routes that answer where no other does, whoever
 * the path says.
 */
export type Access = Scope | 'any-key' | 'raw' | 'public' | 'unknown-route';

export const ACCESS = Symbol('access');

/** The route answers to keys that have this scope. */
export const RequireScope = (scope: Scope) => restAccess(scope);

/** The route answers to every valid key. */
export const AnyKey = () => restAccess('any-key');

function restAccess(access: Scope | 'any-key') {
  const declaration = SetMetadata<symbol, Access>(ACCESS, access);
  // Nest wraps each call of a handler for an interceptor, so that reads go without it.
  return mayWrite(access)
    ? applyDecorators(declaration, UseInterceptors(WriteInterceptor))
    : declaration;
}

/** Whether a route may write, and so heeds what callers ask of a write. */
export function mayWrite(access: Scope | 'any-key'): boolean {
  return access === 'any-key' || access.endsWith(':write');
}

/**
 * The route answers to every valid key by a protocol of its own: its handler reads the request,
 * counts what is asked of it, and forms the answer, outside the envelope.
 */
export const RawRoute = () => SetMetadata<symbol, Access>(ACCESS, 'raw');

/**
 * The route is a page (docs/contract/running.md#public-pages): it answers everyone, is not limited,
 * and what its handler returns is sent as it is, outside the envelope. Query and body are not read.
 */
export const Public = () => SetMetadata<symbol, Access>(ACCESS, 'public');

/** The route catches what no other route answers. */
export const UnknownRoute = () => SetMetadata<symbol, Access>(ACCESS, 'unknown-route');

/** Whether a route takes part in the exchange of REST: input by DTOs, answers in the envelope. */
export function isRestRoute(access: Access | undefined): access is Scope | 'any-key' {
  return access !== undefined && (access === 'any-key' || isScope(access));
}

/** Whether a declared scope exists. A cast can pass any text for one. */
export function isScope(access: string): access is Scope {
  return (SCOPES as readonly string[]).includes(access);
}

/**
 * Ends the start where a declaration requires a scope that does not exist.
 * @param subject what declares the access, such as `GET /api/v1/leads`
 * @throws Error that names the subject and the scope
 */
export function assertKnownAccess(subject: string, access: string): void {
  if (isScope(access) || needsNoScope(access)) return;
  throw new Error(
    `${subject} requires the unknown scope ${access}. The scopes are ${SCOPES.join(', ')}.`,
  );
}

/** Whether a route answers without a scope. */
export function needsNoScope(access: string): access is Exclude<Access, Scope> {
  return OPEN.has(access);
}

const OPEN: ReadonlySet<string> = new Set<Exclude<Access, Scope>>([
  'any-key',
  'raw',
  'public',
  'unknown-route',
]);

/** The refusal of a key that lacks a scope (docs/contract/keys-and-scopes.md#missing-scopes). */
export function insufficientScope(scope: Scope): ApiError {
  return new ApiError('insufficient_scope', {
    message: `The API key needs the scope ${scope}.`,
    headers: {
      'WWW-Authenticate': `Bearer realm="${REALM}", error="insufficient_scope", scope="${scope}"`,
    },
  });
}
