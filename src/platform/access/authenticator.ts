import { Injectable, Optional } from '@nestjs/common';
import { logger } from '../config/logger.js';
import { type MaybePromise, mapMaybePromise } from '../maybe-promise.js';
import { assertLimits, RateLimitPolicy } from './limits/rate-limit-policy.js';
import { type Actor, type Call, type KeyLimits, tenantOf } from '../data/call.js';
import { hashKey, isOperatorKey, isWellFormedKey, KEY_PREFIX } from './api-key-format.js';
import { CredentialStore, type KeyRecord } from './credential-store.js';
import { AccessTokens } from './access-tokens.js';
import { OrganizationCalls } from './organization-calls.service.js';

/** Lifetime of a cached credential. A revoked key must be refused within one second. */
const CACHE_MS = 900;
/** Age at which a key in use is looked up again in the background. */
const REFRESH_AFTER_MS = 450;
const MAX_CACHED_KEYS = 10_000;
const LAST_USED_INTERVAL_MS = 60_000;

interface CachedKey {
  readonly lookedUpAt: number;
  /** A promise while the lookup runs. */
  call: MaybePromise<Call | undefined>;
  isRefreshing?: boolean;
}

/** Finds the caller for an API key or another token. Both are cached for less than a second. */
@Injectable()
export class Authenticator {
  /** Counts of keys that were found in memory and of lookups in the database. */
  readonly lookups = { memory: 0, database: 0 };
  /** Counts of requests without a key that is accepted. No header with a key counts as missing, and a revoked key as unknown. */
  readonly refusals = { missing: 0, malformed: 0, unknown: 0, expired: 0 };
  private readonly cache = new Map<string, CachedKey>();
  private readonly lastUsedUpdatedAt = new Map<string, number>();

  constructor(
    private readonly store: CredentialStore,
    private readonly policy: RateLimitPolicy,
    private readonly calls: OrganizationCalls,
    @Optional() readonly accessTokens?: AccessTokens,
  ) {}

  /** Whether a bearer token can be a credential: an API key or, if other tokens are accepted, any string. */
  isCredential(token: string): boolean {
    return isKey(token) || this.calls.acceptsTokens || this.accessTokens !== undefined;
  }

  /**
   * @param key an API key, a token of another issuer, or an access token
   * @param acceptsAccessTokens whether the request is for the resource of access tokens, where alone they are valid
   * @returns the caller, or undefined for a key that is malformed, unknown, revoked or expired
   * @throws ApiError `query_failed`, and any error of a `TokenAuthenticator`
   */
  authenticate(key: string, acceptsAccessTokens = false): MaybePromise<Call | undefined> {
    const mayBeAccessToken = acceptsAccessTokens && this.accessTokens !== undefined && !isKey(key);
    return mapMaybePromise(this.lookUp(key, mayBeAccessToken), (call) => {
      if (!call || isExpired(call.actor)) {
        this.refusals[refusalOf(key, call)]++;
        return undefined;
      }
      if (call.actor.key.subject === undefined) this.updateLastUsed(call);
      return call;
    });
  }

  private lookUp(key: string, mayBeAccessToken: boolean): MaybePromise<Call | undefined> {
    // The same token can be invalid elsewhere.
    const name = mayBeAccessToken ? `access token ${key}` : key;
    const load = () => this.loadCall(key, mayBeAccessToken);
    const cached = this.cache.get(name);
    const now = performance.now();
    const age = cached ? now - cached.lookedUpAt : Infinity;
    if (cached && age < CACHE_MS) {
      this.lookups.memory++;
      if (age >= REFRESH_AFTER_MS) this.refresh(name, cached, now, load);
      return cached.call;
    }
    if (!(isKey(key) ? isWellFormedKey(key) : this.isCredential(key))) return undefined;
    return this.cacheLookup(name, { lookedUpAt: now, call: load() });
  }

  private refresh(
    name: string,
    cached: CachedKey,
    lookedUpAt: number,
    load: () => Promise<Call | undefined>,
  ): void {
    if (cached.isRefreshing || cached.call instanceof Promise) return;
    cached.isRefreshing = true;
    load().then(
      (call) => {
        if (this.cache.get(name) !== cached) return;
        if (call) this.cache.set(name, { lookedUpAt, call });
        else this.cache.delete(name);
      },
      () => {
        cached.isRefreshing = false;
      },
    );
  }

  /** Caches a lookup. Failed lookups and unknown keys are not kept. */
  private async cacheLookup(name: string, entry: CachedKey): Promise<Call | undefined> {
    if (this.cache.size >= MAX_CACHED_KEYS) this.cache.clear();
    this.cache.set(name, entry);
    let call: Call | undefined;
    try {
      call = await entry.call;
      if (call) entry.call = call;
      return call;
    } finally {
      if (!call && this.cache.get(name) === entry) this.cache.delete(name);
    }
  }

  private async loadCall(key: string, mayBeAccessToken: boolean): Promise<Call | undefined> {
    this.lookups.database++;
    // No policy of a team knows operators: they have the limits of the settings.
    if (isOperatorKey(key)) return toCall(await this.store.findOperatorKey(hashKey(key)));
    const call = isKey(key)
      ? toCall(await this.store.findKeyByHash(hashKey(key)))
      : ((await this.calls.findByToken(key)) ??
        (mayBeAccessToken ? await this.accessTokens?.find(key) : undefined));
    if (!call) return undefined;
    const limits = await this.policy.limitsOf(call);
    if (!limits) return call;
    assertLimits(this.policy, limits);
    return { ...call, actor: { ...call.actor, limits } };
  }

  private updateLastUsed(call: Call): void {
    const { key } = call.actor;
    const id = key.grant?.id ?? key.id;
    const now = performance.now();
    if (now - (this.lastUsedUpdatedAt.get(id) ?? -Infinity) < LAST_USED_INTERVAL_MS) return;
    if (this.lastUsedUpdatedAt.size >= MAX_CACHED_KEYS) this.lastUsedUpdatedAt.clear();
    this.lastUsedUpdatedAt.set(id, now);
    this.store.updateLastUsed(call).catch((error: unknown) => {
      logger.warn({ key_id: key.id, err: error }, 'the last use of a key was not stored');
    });
  }
}

function isKey(token: string): boolean {
  return token.startsWith(KEY_PREFIX);
}

/** Why a key or token is not accepted. @param call that of a caller who was found */
function refusalOf(key: string, call: Call | undefined) {
  if (call) return 'expired';
  return isKey(key) && !isWellFormedKey(key) ? 'malformed' : 'unknown';
}

/** Whether the key or the token of a caller has expired. */
export function isExpired({ key }: Pick<Actor, 'key'>): boolean {
  return key.expiresAt !== null && key.expiresAt.getTime() <= Date.now();
}

/** The call of a key. A policy of a team may give it other limits. */
export function toCall(key: KeyRecord | undefined): Call | undefined {
  if (!key) return undefined;
  const { id, name, scopes, expires_at: expiresAt, user_id: userId, operator_id: operatorId } = key;
  const { confirmations } = key;
  const ofOperator = operatorId === undefined ? {} : { operatorId };
  const limits = ownLimitsOf(key);
  return {
    tenant: tenantOf(key),
    actor: {
      key: { id, name, expiresAt, userId, ...ofOperator, ...(limits && { limits }) },
      scopes: new Set(scopes),
      channel: 'api',
      ...(confirmations === 'ask' && { asksForConfirmation: true }),
    },
  };
}

function ownLimitsOf(key: KeyRecord): Partial<KeyLimits> | undefined {
  const { reads_per_minute: reads, writes_per_minute: writes } = key;
  if (!reads && !writes) return undefined;
  return { ...(reads && { reads }), ...(writes && { writes }) };
}
