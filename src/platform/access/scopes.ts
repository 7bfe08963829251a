import type { RegisteredExtension } from '../config/registered-extensions.js';
import type { Actor } from '../data/call.js';
import { ApiError, REALM } from '../errors/api-error.js';

/** A scope that an extension declares, such as `leads:read`. */
export type Scope = ScopesOf<RegisteredExtension>;

type ScopesOf<E> = E extends { scopes: readonly (infer S extends string)[] } ? S : never;

const declared: Scope[] = [];

/** The scopes of all defined extensions, sorted (docs/contract/keys-and-scopes.md#scopes). */
export const SCOPES: readonly Scope[] = declared;

const ordinary: Scope[] = [];

/** The scopes of `all` and of first keys. A key has others only if they are named. */
export const ORDINARY_SCOPES: readonly Scope[] = ordinary;

/**
 * Adds the scopes of an extension.
 * @param explicit those that a key has only if they are named
 */
export function declareScopes(scopes: readonly string[], explicit: readonly string[] = []): void {
  const added = (scopes as readonly Scope[]).filter((scope) => !declared.includes(scope));
  declared.push(...added);
  declared.sort();
  ordinary.push(...added.filter((scope) => !explicit.includes(scope)));
  ordinary.sort();
}

/** Whether a declared scope exists. TypeScript casts can declare any string. */
export function isScope(scope: string): scope is Scope {
  return (SCOPES as readonly string[]).includes(scope);
}

/**
 * The error for an operator key at a route of organizations, and for another key at a route of operators
 * (docs/contract/keys-and-scopes.md#operator-keys).
 */
export function wrongKindOfKey(isOperator: boolean): ApiError {
  return new InsufficientScope(
    isOperator
      ? 'This is an operator key, which is accepted at /api/v1/organizations and /api/v1/audit only.'
      : 'This route needs an operator key, which `latitude operators create` makes.',
  );
}

/** The error for a key without the required scope (docs/contract/keys-and-scopes.md#missing-scopes). */
export function insufficientScope(scope: Scope): ApiError {
  return new InsufficientScope(`The API key needs the scope ${scope}.`, scope);
}

/** @throws ApiError `insufficient_scope` that names the first of the scopes that the actor lacks */
export function assertScopes({ scopes: granted }: Actor, scopes: readonly string[]): void {
  const missing = scopes.find((scope) => !granted.has(scope));
  if (missing !== undefined) throw insufficientScope(missing as Scope);
}

/** The error of a caller that may not do something. */
export class InsufficientScope extends ApiError {
  /** @param scope the missing scope, if another scope suffices */
  constructor(
    message: string,
    readonly scope?: Scope,
  ) {
    const parameter = scope === undefined ? '' : `, scope="${scope}"`;
    const challenge = `Bearer realm="${REALM}", error="insufficient_scope"${parameter}`;
    super('insufficient_scope', { message, headers: { 'WWW-Authenticate': challenge } });
  }
}
