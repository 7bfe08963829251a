import { insufficientScope, type Scope } from '../../platform/access/scopes.js';
import { ApiError, validationError } from '../../platform/errors/api-error.js';
import type { Settings } from '../../platform/config/settings.js';
import type { ApiKeyDto, CreateKeyDto } from './key.dto.js';
import { lowered } from './key-limits.js';

/** @throws ApiError `insufficient_scope` that names the first missing scope */
export function assertHolds(caller: ApiKeyDto, scopes: readonly Scope[]): void {
  const missing = scopes.find((scope) => !caller.scopes.includes(scope));
  if (missing !== undefined) throw insufficientScope(missing);
}

/**
 * A key with a user manages only what belongs to that user (docs/contract/keys-and-scopes.md#keys-of-a-user).
 * @param user that of the key of the request
 * @param owner that of the other key
 * @throws ApiError `key_not_manageable`
 */
export function assertOfUser(user: string | null, owner: string | null): void {
  if (user === null || user === owner) return;
  throw notManageable('A key with a user_id manages only the keys and grants of this user.');
}

/** @throws ApiError `insufficient_scope`, `key_not_manageable` */
export function assertMayEnd(caller: ApiKeyDto, key: ApiKeyDto): void {
  assertHolds(caller, key.scopes);
  assertOfUser(caller.user_id, key.user_id);
  if (!caller.ends_with.includes(key.id)) return;
  throw notManageable('A key cannot rotate or revoke the keys that it ends with.');
}

/** @throws ApiError `insufficient_scope`, `key_not_manageable` */
export function assertMayRotate(settings: Settings, caller: ApiKeyDto, key: ApiKeyDto): void {
  assertMayEnd(caller, key);
  if (key.successor_id !== null) {
    throw notManageable(`The key was rotated already: its successor is ${key.successor_id}.`);
  }
  if (lowered(settings, key, caller)) {
    throw notManageable('A key cannot rotate a key whose limits are larger than its own.');
  }
  const end = caller.expires_at?.getTime() ?? Infinity;
  if ((key.expires_at?.getTime() ?? Infinity) <= end) return;
  throw notManageable('A key cannot rotate a key that expires later than itself.');
}

function notManageable(message: string): ApiError {
  return new ApiError('key_not_manageable', { message });
}

/** @throws ApiError `validation_error` */
export function expiryOf({ expires_at: wanted }: CreateKeyDto, maker: ApiKeyDto): Date | null {
  if (!wanted) return maker.expires_at;
  assertFuture(wanted);
  if (!maker.expires_at || wanted <= maker.expires_at) return wanted;
  const end = maker.expires_at.toISOString();
  throw invalidExpiry(`must be at the latest ${end}, when the key of the request expires`);
}

/** @throws ApiError `validation_error` */
export function assertFuture(expires_at: Date): void {
  if (expires_at.getTime() <= Date.now()) throw invalidExpiry('must be in the future');
}

function invalidExpiry(message: string): ApiError {
  return validationError([{ field: 'expires_at', message }]);
}

/** @throws ApiError `validation_error` */
export function userOf({ user_id: wanted }: CreateKeyDto, maker: ApiKeyDto): string | null {
  if (!wanted || !maker.user_id || wanted === maker.user_id) return wanted ?? maker.user_id;
  const message = 'must be that of the key of the request';
  throw validationError([{ field: 'user_id', message }]);
}

/** Whether a key is revoked or has expired. */
export function hasEnded({ revoked_at, expires_at }: ApiKeyDto): boolean {
  return revoked_at !== null || (expires_at !== null && expires_at.getTime() <= Date.now());
}

/** The last time that a timestamp can have. */
const LAST_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/** When a key with this lifetime expires that is made now. @param lifetime 0 if it does not expire */
export function endOf(lifetime: number): Date | null {
  return lifetime === 0 ? null : later(lifetime);
}

/** The lifetime of a key that is made now; 0 if it does not expire. */
export function lifetimeUntil(expires_at: Date | null): number {
  return expires_at ? Math.max(expires_at.getTime() - Date.now(), 1) : 0;
}

/** The time after some milliseconds. */
export function later(ms: number): Date {
  return new Date(Math.min(Date.now() + ms, LAST_TIME));
}
