import { SetMetadata } from '@nestjs/common';
import type { Scope } from './scopes.js';

/**
 * Who may call a route: holders of a key with this scope, holders of any valid key, or, for the
 * routes that answer where no other does, whoever the path says.
 */
export type Access = Scope | 'any-key' | 'unknown-route';

export const ACCESS = Symbol('access');

/** The route answers to keys that have this scope. */
export const RequireScope = (scope: Scope) => SetMetadata<symbol, Access>(ACCESS, scope);

/** The route answers to every valid key. */
export const AnyKey = () => SetMetadata<symbol, Access>(ACCESS, 'any-key');

/** The route catches what no other route answers. */
export const UnknownRoute = () => SetMetadata<symbol, Access>(ACCESS, 'unknown-route');
