import { Injectable } from '@nestjs/common';
import { AccessTokens } from '../../platform/access/access-tokens.js';
import { toCall } from '../../platform/access/authenticator.js';
import type { Call } from '../../platform/data/call.js';
import { OAuthRepository } from './oauth.repository.js';
import { ProtectedResource } from './protected-resource.js';

/** The form of the tokens of oidc-provider, so that guesses do not reach the database. */
const TOKEN = /^[A-Za-z0-9_-]{43}$/;

/** Finds the callers of /mcp by the access tokens of the built-in authorization server. */
@Injectable()
export class OAuthTokens extends AccessTokens {
  constructor(
    private readonly repository: OAuthRepository,
    readonly resource: ProtectedResource,
  ) {
    super();
  }

  async find(token: string): Promise<Call | undefined> {
    if (!TOKEN.test(token)) return undefined;
    const found = await this.repository.findToken(token, this.resource.identifiers);
    const call = toCall(found);
    if (!found || !call) return undefined;
    const { actor } = call;
    const { grant_id: id, client_id: clientId, client_name: clientName } = found;
    const key = { ...actor.key, grant: { id, clientId, clientName } };
    return { ...call, actor: { ...actor, key, isMcpOnly: true } };
  }
}
