import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { displayPrefix, generateKey, hashKey } from '../../platform/access/api-key-format.js';
import { insufficientScope, type Scope } from '../../platform/access/scopes.js';
import type {
  Actor,
  Call,
  Confirmations,
  InTransaction,
  TenantCall,
} from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import type { ListQuery } from '../../platform/data/lists/list-query.js';
import type { Page } from '../../platform/data/lists/page.js';
import {
  type RecordPromise,
  type Stored,
  assertPrecondition,
} from '../../platform/data/records/stored-record.js';
import { ApiError, validationError } from '../../platform/errors/api-error.js';
import { notFound, orNotFound } from '../../platform/errors/or-not-found.js';
import type { ApiKeyDto, ApiKeyWithSecretDto, CreateKeyDto, RevokedKeyDto } from './key.dto.js';
import { KeysRepository, type NewKeyRow } from './keys.repository.js';
import { OrganizationsRepository } from './organizations.repository.js';

/** An organization with this number of valid keys makes no more over REST, because each key has rate limits of its own. */
const MAX_KEYS = 100;

const FIRST_KEY_USED =
  'The first key was used or revoked, or the organization has further keys, so it cannot be replaced.';

/** The fields of a new key. */
type KeyFields = Pick<NewKeyRow, 'name' | 'user_id' | 'expires_at' | 'ends_with'> & {
  readonly scopes: readonly string[];
  readonly confirmations?: Confirmations;
};

/**
 * Makes, rotates and revokes the keys of an organization (docs/contract/keys-and-scopes.md#api-keys). A call of a
 * request has the rules of its key. Commands have no key, and may do everything.
 *
 * A key that is made over REST ends with its maker, and with all keys that its maker ends with. When one of these is revoked,
 * the key is revoked, too, and it expires no later than any of them. `ends_with` has their ids.
 */
@Injectable()
export class ApiKeysService {
  constructor(
    private readonly repository: KeysRepository,
    private readonly organizations: OrganizationsRepository,
    private readonly database: TenantDatabase,
  ) {}

  /** @throws ApiError `query_failed` */
  list(call: Call, query: ListQuery): Promise<Page<ApiKeyDto>> {
    return this.repository.list(call, query);
  }

  /** @throws ApiError `not_found`, `query_failed` */
  get(call: TenantCall, id: string): RecordPromise<ApiKeyDto> {
    return this.repository.find(call, id).orElse(() => notFound('key'));
  }

  /**
   * Makes a key with scopes that the key of the call has. It ends with that key.
   * @returns the key with its secret, which cannot be read later
   * @throws ApiError `validation_error`, `insufficient_scope`, `too_many_keys`, `unauthorized`, `create_failed`
   */
  create(call: Call, input: CreateKeyDto): Promise<Stored<ApiKeyWithSecretDto>> {
    return this.change(call, async (inner, maker) => {
      if (!maker) throw new Error('A key is made by a key.');
      const { name, confirmations } = input;
      const scopes = [...input.scopes].sort();
      assertHolds(maker, scopes);
      inner.replay?.need(scopes);
      const expires_at = expiryOf(input, maker);
      const user_id = userOf(input, maker);
      await this.assertAtMost(MAX_KEYS - 1, inner);
      const ends_with = [...maker.ends_with, maker.id];
      return this.issue(inner, { name, scopes, expires_at, user_id, ends_with, confirmations });
    });
  }

  /**
   * Makes a key that ends with no other one, for callers that are trusted to do so.
   * @param isFirst whether the organization must not have had a key
   * @throws ApiError `not_found` for an unknown organization, `first_key_exists`, `create_failed`
   */
  createRoot(
    call: TenantCall,
    fields: Omit<KeyFields, 'ends_with'>,
    isFirst = false,
  ): Promise<Stored<ApiKeyWithSecretDto>> {
    const create = async (inner: InTransaction) => {
      const exists = isFirst && (await this.repository.all(inner)).length > 0;
      if (exists) throw new ApiError('first_key_exists');
      return this.issue(inner, { ...fields, ends_with: [] });
    };
    return this.change(call, create, null);
  }

  /**
   * Makes a key with the name, scopes and lifetime of another one, which expires after `overlapMs`. The lifetime is the one that
   * the first key was made with, also if an overlap or another key has ended it earlier. Keys that end with the
   * old one then end with the new one. The new one ends with the same keys as the old one, and with the caller, so that
   * no key outlives its own revocation by rotating another one.
   * @throws ApiError `not_found` for a key that is unknown, revoked or expired; `insufficient_scope`,
   *   `key_not_manageable`, `too_many_keys`, `unauthorized`, `create_failed`
   */
  rotate(
    call: TenantCall,
    id: string,
    overlapMs: number,
  ): Promise<{ key: Stored<ApiKeyWithSecretDto>; oldExpiresAt: Date | null }> {
    return this.change(call, async (inner, caller) => {
      const old = await this.get(inner, id);
      if (hasEnded(old)) {
        throw new ApiError('not_found', {
          message: 'The key is revoked or has expired: create a new one.',
        });
      }
      if (caller) assertMayRotate(caller, old);
      inner.replay?.need(old.scopes);
      // One key more, so that an organization with all its keys can rotate them, one after another.
      if (caller && overlapMs > 0) await this.assertAtMost(MAX_KEYS, inner);
      const added = caller && caller.id !== id ? [...caller.ends_with, caller.id] : [];
      const ends_with = [...new Set([...old.ends_with, ...added])];
      return this.succeed(inner, { ...old, ends_with }, overlapMs, added);
    });
  }

  /**
   * Replaces the first key of an organization, of which no key was used, for callers that are trusted to do so. The old key ends
   * at once.
   * @throws ApiError `not_found` if the organization or its key does not exist; `first_key_exists`, `create_failed`
   */
  replaceFirst(call: TenantCall): Promise<Stored<ApiKeyWithSecretDto>> {
    const replace = async (inner: InTransaction) => {
      const keys = await this.repository.all(inner);
      const [first, ...others] = keys.filter(({ successor_id }) => successor_id === null);
      const wasUsed = keys.some(({ last_used_at }) => last_used_at !== null);
      if (wasUsed || others.length > 0 || first?.revoked_at) {
        throw new ApiError('first_key_exists', { message: FIRST_KEY_USED });
      }
      return (await this.succeed(inner, orNotFound(first, 'key'), 0)).key;
    };
    return this.change(call, replace, null);
  }

  /**
   * Revokes a key and those that end with it. Every instance refuses them within a second.
   * @throws ApiError `not_found`, `insufficient_scope`, `key_not_manageable`, `precondition_failed`, `unauthorized`,
   *   `create_failed`
   */
  revoke(call: TenantCall, id: string): Promise<RevokedKeyDto> {
    return this.change(call, async (inner, caller) => {
      const stored = await this.get(inner, id).stored;
      if (caller) assertMayEnd(caller, stored.value());
      assertPrecondition(call, stored);
      await this.repository.revoke(inner, id);
      const { revoked_at } = await this.get(inner, id);
      return { id, revoked_at: revoked_at ?? new Date() };
    });
  }

  /** @throws ApiError `too_many_keys`, `create_failed` */
  private async assertAtMost(valid: number, call: InTransaction): Promise<void> {
    if ((await this.repository.countValid(call)) > valid) throw new ApiError('too_many_keys');
  }

  /** Inserts the successor of a key, which expires after `overlapMs`. @param added see `KeysRepository.replace` */
  private async succeed(
    inner: InTransaction,
    { id, ...old }: ApiKeyDto,
    overlapMs: number,
    added: readonly string[] = [],
  ) {
    const lifetime = await this.repository.lifetimeOf(inner, id);
    const { name, scopes, user_id, confirmations } = old;
    const fields = { name, scopes, user_id, confirmations, ends_with: old.ends_with };
    const key = await this.issue(inner, { ...fields, expires_at: endOf(lifetime) }, lifetime);
    const ids = { old: id, new: key.id };
    const end = { lifetime, oldEnd: later(overlapMs) };
    const ended = await this.repository.replace(inner, ids, end, added);
    return { key, oldExpiresAt: ended.expires_at };
  }

  /** Inserts a key. */
  private async issue(
    call: InTransaction,
    fields: KeyFields,
    lifetime_ms = lifetimeUntil(fields.expires_at),
  ): Promise<Stored<ApiKeyWithSecretDto>> {
    const key = generateKey();
    const stored = await this.repository.insertKey(call, {
      ...fields,
      id: uuidv7(),
      scopes: [...fields.scopes].sort(),
      lifetime_ms,
      confirmations: fields.confirmations ?? 'never',
      key_hash: hashKey(key),
      key_start: displayPrefix(key),
    });
    return stored.with({ key });
  }

  /**
   * Changes keys while no other transaction changes keys of the organization.
   * @param actor on behalf of whose key they are changed; null if the caller is trusted
   */
  private change<T>(
    call: TenantCall,
    work: (inner: InTransaction, caller: ApiKeyDto | undefined) => Promise<T>,
    actor: Actor | null = call.actor ?? null,
  ): Promise<T> {
    return this.database.transaction(call, async (inner) => {
      orNotFound(await this.organizations.lock(inner), 'organization');
      const result = await work(inner, actor ? await this.callerOf(inner, actor) : undefined);
      // The statements of keys write their events themselves. The publisher looks for them after the commit.
      this.database.publishEvents(inner);
      return result;
    });
  }

  /** The key of a request as it is stored now: it may have been revoked since the request was authenticated. */
  private async callerOf(inner: InTransaction, { key }: Actor): Promise<ApiKeyDto> {
    const message = 'Keys are managed with an API key, not with a token of another issuer.';
    if (key.subject !== undefined) throw new ApiError('key_not_manageable', { message });
    const caller = await this.repository.find(inner, key.id);
    if (!caller || hasEnded(caller)) throw new ApiError('unauthorized');
    return caller;
  }
}

/** @throws ApiError `insufficient_scope` that names the first missing scope */
function assertHolds(caller: ApiKeyDto, scopes: readonly Scope[]): void {
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
function assertMayEnd(caller: ApiKeyDto, key: ApiKeyDto): void {
  assertHolds(caller, key.scopes);
  assertOfUser(caller.user_id, key.user_id);
  if (!caller.ends_with.includes(key.id)) return;
  throw notManageable('A key cannot rotate or revoke the keys that it ends with.');
}

/** @throws ApiError `insufficient_scope`, `key_not_manageable` */
function assertMayRotate(caller: ApiKeyDto, key: ApiKeyDto): void {
  assertMayEnd(caller, key);
  if (key.successor_id !== null) {
    throw notManageable(`The key was rotated already: its successor is ${key.successor_id}.`);
  }
  const end = caller.expires_at?.getTime() ?? Infinity;
  if ((key.expires_at?.getTime() ?? Infinity) <= end) return;
  throw notManageable('A key cannot rotate a key that expires later than itself.');
}

function notManageable(message: string): ApiError {
  return new ApiError('key_not_manageable', { message });
}

/** @throws ApiError `validation_error` */
function expiryOf({ expires_at: wanted }: CreateKeyDto, maker: ApiKeyDto): Date | null {
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
function userOf({ user_id: wanted }: CreateKeyDto, maker: ApiKeyDto): string | null {
  if (!wanted || !maker.user_id || wanted === maker.user_id) return wanted ?? maker.user_id;
  const message = 'must be that of the key of the request';
  throw validationError([{ field: 'user_id', message }]);
}

/** Whether a key is revoked or has expired. */
function hasEnded({ revoked_at, expires_at }: ApiKeyDto): boolean {
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
