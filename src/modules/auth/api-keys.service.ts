import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { displayPrefix, generateKey, hashKey } from '../../platform/access/api-key-format.js';
import { Settings } from '../../platform/config/settings.js';
import { AuditLog } from '../../platform/data/audit/audit-log.js';
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
import { ApiError } from '../../platform/errors/api-error.js';
import { notFound, orNotFound } from '../../platform/errors/or-not-found.js';
import {
  assertWithin,
  inherited,
  lowered,
  type OwnLimits,
  type WantedLimits,
} from './key-limits.js';
import type { ApiKeyDto, ApiKeyWithSecretDto, CreateKeyDto, RevokedKeyDto } from './key.dto.js';
import {
  assertHolds,
  assertMayEnd,
  assertMayRotate,
  endOf,
  expiryOf,
  hasEnded,
  later,
  lifetimeUntil,
  userOf,
} from './key-rules.js';
import { KeysRepository, type NewKeyRow } from './keys.repository.js';
import { OrganizationsRepository } from './organizations.repository.js';

/** An organization with this number of valid keys makes no more over REST, because each key has rate limits of its own. */
const MAX_KEYS = 100;

const FIRST_KEY_USED =
  'The first key was used or revoked, or the organization has further keys, so it cannot be replaced.';

/** The fields of a new key. */
type KeyFields = Pick<NewKeyRow, 'name' | 'user_id' | 'expires_at' | 'ends_with'> &
  WantedLimits & {
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
    private readonly settings: Settings,
    private readonly audit: AuditLog,
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
      assertWithin(this.settings, input, maker);
      const limits = inherited(this.settings, input, maker);
      await this.assertAtMost(MAX_KEYS - 1, inner);
      const owner = { user_id, ends_with: [...maker.ends_with, maker.id] };
      return this.issue(inner, { name, scopes, expires_at, confirmations, ...owner, ...limits });
    });
  }

  /**
   * Makes a key that ends with no other one, for callers that are trusted to do so.
   * @param isFirst whether the organization must not have had a key
   * @throws ApiError `not_found` for an unknown organization, `validation_error`, `first_key_exists`, `create_failed`
   */
  createRoot(
    call: TenantCall,
    fields: Omit<KeyFields, 'ends_with'>,
    isFirst = false,
  ): Promise<Stored<ApiKeyWithSecretDto>> {
    this.assertLimits(fields);
    const create = async (inner: InTransaction) => {
      const exists = isFirst && (await this.repository.all(inner)).length > 0;
      if (exists) throw new ApiError('first_key_exists');
      return this.issue(inner, { ...fields, ends_with: [] });
    };
    return this.change(call, create, null);
  }

  /**
   * Checks limits that a trusted caller gives a key.
   * @throws ApiError `validation_error`
   */
  assertLimits(limits: WantedLimits): void {
    assertWithin(this.settings, limits);
  }

  /**
   * Sets limits of a key, for callers that are trusted to do so. Keys that end with it get at most the same. Every instance
   * applies them within a second.
   * @throws ApiError `not_found`, `validation_error`, `precondition_failed`, `create_failed`
   */
  setLimits(
    call: TenantCall,
    id: string,
    { reads_per_minute, writes_per_minute }: WantedLimits,
  ): Promise<Stored<ApiKeyDto>> {
    const limits = { reads_per_minute, writes_per_minute };
    this.assertLimits(limits);
    const set = async (inner: InTransaction) => {
      const key = orNotFound(await this.repository.update(inner, id, limits).stored, 'key');
      if (!key.isUnchanged) await this.audit.add(inner, ['key.updated', id]);
      await this.lowerThoseEndingWith(key.value(), inner);
      return key;
    };
    return this.change(call, set, null);
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
      if (caller) assertMayRotate(this.settings, caller, old);
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
      const revoked = await this.repository.revoke(inner, id);
      await this.audit.add(inner, ...revoked.map((each) => ['key.revoked', each] as const));
      const { revoked_at } = await this.get(inner, id);
      return { id, revoked_at: revoked_at ?? new Date() };
    });
  }

  /** @throws ApiError `create_failed` */
  private async lowerThoseEndingWith(key: ApiKeyDto, call: InTransaction): Promise<void> {
    const others = { ...call, precondition: undefined };
    const lower = (each: OwnLimits) => lowered(this.settings, each, key);
    for (const id of await this.repository.findEndingWith(call, key.id)) {
      const isOther = id !== key.id;
      const stored = isOther && (await this.repository.update(others, id, lower).stored);
      if (stored && !stored.isUnchanged) await this.audit.add(call, ['key.updated', id]);
    }
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
    const { name, scopes, user_id, confirmations, ends_with } = old;
    const { reads_per_minute, writes_per_minute } = old;
    const limits = { reads_per_minute, writes_per_minute };
    const fields = { name, scopes, user_id, confirmations, ends_with, ...limits };
    const key = await this.issue(inner, { ...fields, expires_at: endOf(lifetime) }, lifetime);
    const ids = { old: id, new: key.id };
    const end = { lifetime, oldEnd: later(overlapMs) };
    const ended = await this.repository.replace(inner, ids, end, added);
    await this.audit.add(inner, ['key.rotated', id]);
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
    await this.audit.add(call, ['key.created', stored.id]);
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
