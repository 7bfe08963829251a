import { Injectable } from '@nestjs/common';
import {
  createRemoteJWKSet,
  type CryptoKey,
  errors,
  type JWTPayload,
  jwtVerify,
  type JWTVerifyGetKey,
  type RemoteJWKSet,
} from 'jose';
import { AccessTokens } from '../../platform/access/access-tokens.js';
import { OrganizationCalls } from '../../platform/access/organization-calls.service.js';
import { logger } from '../../platform/config/logger.js';
import { Settings } from '../../platform/config/settings.js';
import { ApiError } from '../../platform/errors/api-error.js';
import type { Call } from '../../platform/data/call.js';
import { UUID } from '../../platform/fields/kinds/uuid.js';
import { ProtectedResource } from './protected-resource.js';

/** Algorithms with a public key. Symmetric ones and `none` would let others sign. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA', 'Ed25519'];

/** How far the clocks of the issuer and of the service may differ. */
const CLOCK_TOLERANCE_SECONDS = 30;

const TIMEOUT_MS = 3_000;

const RETRY_AFTER_SECONDS = 5;

/** Finds the callers of /mcp by the access tokens of another authorization server (docs/contract/oauth.md#issuer). */
@Injectable()
export class IssuerTokens extends AccessTokens {
  private keys: Promise<RemoteJWKSet> | undefined;

  constructor(
    private readonly settings: Settings,
    readonly resource: ProtectedResource,
    private readonly calls: OrganizationCalls,
  ) {
    super();
  }

  /** @throws ApiError `overloaded` if the issuer does not answer, `query_failed` */
  async find(token: string): Promise<Call | undefined> {
    // Other strings do not make the service ask the issuer.
    if (token.split('.').length !== 3) return undefined;
    const claims = await this.verify(token);
    if (!claims?.exp) return undefined;
    const { oauthOrganizationClaim, oauthActorClaim, oauthScopesClaim } = this.settings;
    const organizationId = claims[oauthOrganizationClaim ?? 'organization_id'];
    const subject = claims[oauthActorClaim ?? 'sub'];
    if (typeof organizationId !== 'string' || !UUID.test(organizationId)) return undefined;
    if (typeof subject !== 'string' || subject === '') return undefined;
    const granted = scopesIn(claims[oauthScopesClaim ?? 'scope']);
    const scopes = this.resource.scopes().filter((scope) => granted.includes(scope));
    const expiresAt = new Date((claims.exp + CLOCK_TOLERANCE_SECONDS) * 1_000);
    if (Number.isNaN(expiresAt.getTime())) return undefined;
    const call = await this.calls.ofToken({ organizationId, subject, scopes, expiresAt });
    return call && { ...call, actor: { ...call.actor, isMcpOnly: true } };
  }

  /**
   * @returns undefined for a token that is not valid
   * @throws ApiError `overloaded`
   */
  private async verify(token: string): Promise<JWTPayload | undefined> {
    try {
      return await this.verifyWith(token, (...args) => this.findKey(...args));
    } catch (error) {
      if (error instanceof ApiError) throw error;
      return error instanceof errors.JWKSMultipleMatchingKeys
        ? this.verifyWithAny(token, error)
        : undefined;
    }
  }

  /** Verifies a token that does not name its key, with each key of its algorithm. */
  private async verifyWithAny(
    token: string,
    keys: errors.JWKSMultipleMatchingKeys,
  ): Promise<JWTPayload | undefined> {
    for await (const key of keys) {
      const payload = await this.verifyWith(token, () => key).catch(() => undefined);
      if (payload) return payload;
    }
    return undefined;
  }

  private async verifyWith(token: string, findKey: JWTVerifyGetKey): Promise<JWTPayload> {
    const { oauthAudience } = this.settings;
    const { payload } = await jwtVerify(token, findKey, {
      issuer: this.resource.issuer,
      audience: oauthAudience ?? [...this.resource.identifiers],
      algorithms: ALGORITHMS,
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
      requiredClaims: ['exp', 'aud', 'iss'],
    });
    return payload;
  }

  /** @throws JWKSNoMatchingKey, JWKSMultipleMatchingKeys, or ApiError `overloaded` if the keys cannot be read */
  private async findKey(...args: Parameters<JWTVerifyGetKey>): Promise<CryptoKey> {
    let find: RemoteJWKSet | undefined;
    try {
      this.keys ??= this.keysOfIssuer();
      find = await this.keys;
      return await find(...args);
    } catch (cause) {
      const isUnknown = cause instanceof errors.JWKSNoMatchingKey;
      if (isUnknown || cause instanceof errors.JWKSMultipleMatchingKeys) throw cause;
      // Keys are kept for ten minutes. After that, their address may have changed, too.
      if (!find?.fresh) this.keys = undefined;
      logger.warn({ err: cause }, 'the keys of OAUTH_ISSUER could not be read');
      const message = 'The authorization server does not answer.';
      const headers = { 'Retry-After': String(RETRY_AFTER_SECONDS) };
      throw new ApiError('overloaded', { message, headers, cause });
    }
  }

  /** The keys of the issuer, whose address its metadata names. */
  private async keysOfIssuer(): Promise<RemoteJWKSet> {
    const url = `${this.resource.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    const metadata = (await answer.json()) as { issuer?: unknown; jwks_uri?: unknown };
    if (metadata.issuer !== this.resource.issuer || typeof metadata.jwks_uri !== 'string') {
      throw new Error(`${url} is not the metadata of ${this.resource.issuer}`);
    }
    // The keys are used for ten minutes. An unknown key is looked up earlier, at most twice a minute.
    return createRemoteJWKSet(new URL(metadata.jwks_uri), { timeoutDuration: TIMEOUT_MS });
  }
}

/** Scopes as a string with spaces, or as a list. */
function scopesIn(claim: unknown): readonly unknown[] {
  return typeof claim === 'string' ? claim.split(' ') : [claim].flat();
}
