import type { RegisteredExtension } from '../config/registered-extensions.js';

/** A scope that an extension declares, such as `leads:read`. */
export type Scope = ScopesOf<RegisteredExtension>;

type ScopesOf<E> = E extends { scopes: readonly (infer S extends string)[] } ? S : never;

const declared: Scope[] = [];

/** The scopes of all defined extensions, sorted (docs/contract/keys-and-scopes.md#scopes). */
export const SCOPES: readonly Scope[] = declared;

/** Adds the scopes of an extension. */
export function declareScopes(scopes: readonly string[]): void {
  const added = (scopes as readonly Scope[]).filter((scope) => !declared.includes(scope));
  declared.push(...added);
  declared.sort();
}
