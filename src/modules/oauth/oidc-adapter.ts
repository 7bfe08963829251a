import { type Adapter, type AdapterFactory, type AdapterPayload, errors } from 'oidc-provider';
import type { GrantsService } from './grants.service.js';
import { hashOf } from './oauth-tokens.js';
import type { OAuthRepository } from './oauth.repository.js';

/** A refresh token can be used again for this time, because clients lose responses. */
const REPEATABLE_SECONDS = 30;

/** The form of the ids of registered clients. Other clients have a URL. */
const CLIENT_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** The account of every grant. A grant belongs to an API key, and people have no accounts. */
export const ACCOUNT = 'latitude';

const nothing = () => Promise.resolve(undefined);

/** Stores nothing. Every authorization shows the page, so that browsers have no sessions. */
const EMPTY: Adapter = {
  upsert: nothing,
  find: nothing,
  findByUserCode: nothing,
  findByUid: nothing,
  consume: nothing,
  destroy: nothing,
  revokeByGrantId: nothing,
};

/** Where oidc-provider stores its data, by the kind of data. */
export function adapterFactory(repository: OAuthRepository, grants: GrantsService): AdapterFactory {
  return (kind) => {
    if (kind === 'Client') return clientAdapter(repository);
    if (kind === 'Grant') return grantAdapter(grants);
    if (kind === 'Session') return EMPTY;
    return artifactAdapter(kind, repository, grants);
  };
}

/** Stores clients that have registered themselves. */
function clientAdapter(repository: OAuthRepository): Adapter {
  return {
    ...EMPTY,
    upsert: (id, metadata) => repository.insertClient(id, metadata),
    find: async (id) => {
      if (!CLIENT_ID.test(id)) return undefined;
      return (await repository.findClient(id)) as AdapterPayload | undefined;
    },
  };
}

/** Finds and ends grants. `GrantsService` creates them. */
function grantAdapter(grants: GrantsService): Adapter {
  return {
    ...EMPTY,
    find: async (id) => {
      const grant = await grants.findValid(id);
      return (
        grant && {
          jti: id,
          kind: 'Grant',
          accountId: ACCOUNT,
          clientId: grant.client_id,
          resources: { [grant.resource]: grant.scopes.join(' ') },
          iat: secondsOf(grant.created_at),
          exp: secondsOf(grant.expires_at),
        }
      );
    },
    destroy: (id) => grants.end(id),
  };
}

/** Stores codes, tokens and unfinished authorizations. */
function artifactAdapter(
  kind: string,
  repository: OAuthRepository,
  grants: GrantsService,
): Adapter {
  const keyOf = (id: string) => ({ kind, idHash: hashOf(id) });
  return {
    ...EMPTY,

    upsert: (id, { jti: _, grantId, ...payload }, lifetimeSeconds = 0) =>
      repository.storeArtifact({ ...keyOf(id), grantId, payload, lifetimeSeconds }),

    find: async (id) => {
      const stored = await repository.findArtifact(keyOf(id));
      if (!stored) return undefined;
      const { payload, grant_id: grantId, consumed_at, consumed_seconds_ago: age } = stored;
      const isRepeatable = kind === 'RefreshToken' && (age ?? 0) < REPEATABLE_SECONDS;
      return {
        ...(payload as AdapterPayload),
        jti: id,
        ...(grantId !== null && { grantId }),
        ...(consumed_at && !isRepeatable && { consumed: secondsOf(consumed_at) }),
      };
    },

    consume: async (id) => {
      const isFirst = await repository.consumeArtifact(keyOf(id));
      if (isFirst || kind !== 'AuthorizationCode') return;
      // Another request has used the code since it was looked up.
      const stored = await repository.findArtifact(keyOf(id));
      if (stored?.grant_id) await grants.end(stored.grant_id);
      throw new errors.InvalidGrant('authorization code already consumed');
    },

    destroy: (id) => repository.deleteArtifact(keyOf(id)),
    revokeByGrantId: (grantId) => repository.deleteArtifactsOf(grantId, kind),
  };
}

function secondsOf(time: Date): number {
  return Math.floor(time.getTime() / 1_000);
}
