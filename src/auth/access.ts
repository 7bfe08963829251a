import { SetMetadata } from '@nestjs/common';
import type { Scope } from './scopes.js';

/**
 * Who may call a route: holders of a key with this scope, holders of any valid key, everyone, or,
 * for the routes that answer where no other does, whoever the path says.
 */
export type Access = Scope | 'any-key' | 'public' | 'unknown-route';

export const ACCESS = Symbol('access');

/** The route answers to keys that have this scope. */
export const RequireScope = (scope: Scope) => SetMetadata<symbol, Access>(ACCESS, scope);

/** The route answers to every valid key. */
export const AnyKey = () => SetMetadata<symbol, Access>(ACCESS, 'any-key');

/**
 * The route is a page (decisions 7): it answers everyone, is not limited, and what its handler
 * returns is sent as it is, outside the envelope. Query and body are not read.
 */
export const Public = () => SetMetadata<symbol, Access>(ACCESS, 'public');

/** The route catches what no other route answers. */
export const UnknownRoute = () => SetMetadata<symbol, Access>(ACCESS, 'unknown-route');
