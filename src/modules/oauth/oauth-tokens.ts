import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { AccessTokens } from '../../platform/access/access-tokens.js';
import { type Call, tenantOf } from '../../platform/data/call.js';
import { OAuthRepository } from './oauth.repository.js';
import { ProtectedResource } from './protected-resource.js';

/** The form of the tokens of oidc-provider, so that guesses do not reach the database. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Finds the callers of /mcp by the access tokens of the built-in authorization server. */
@Injectable()
export class OAuthTokens extends AccessTokens {
  constructor(
    private readonly repository: OAuthRepository,
    private readonly resource: ProtectedResource,
  ) {
    super();
  }

  async find(token: string): Promise<Call | undefined> {
    if (!TOKEN.test(token)) return undefined;
    const found = await this.repository.findToken(hashOf(token), this.resource.identifiers);
    if (!found) return undefined;
    const grant = {
      id: found.grant_id,
      clientId: found.client_id,
      clientName: found.client_name,
    };
    return {
      tenant: tenantOf(found),
      actor: {
        key: {
          id: found.key_id,
          name: found.key_name,
          expiresAt: found.expires_at,
          userId: found.user_id,
          grant,
        },
        scopes: new Set(found.scopes),
        channel: 'api',
        isMcpOnly: true,
      },
    };
  }

  metadataUrlOf(url: string): string {
    return this.resource.metadataUrlOf(url);
  }

  scopes(): readonly string[] {
    return this.resource.scopes();
  }
}

/** The hash under which a token or another id is stored. They have 256 bits of entropy. */
export function hashOf(id: string): Buffer {
  return createHash('sha256').update(id).digest();
}
