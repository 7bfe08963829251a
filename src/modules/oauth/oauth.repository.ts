import { Injectable } from '@nestjs/common';
import { type Adapter, type AdapterPayload, errors } from 'oidc-provider';
import {
  HAS_NOT_ENDED,
  IS_VALID_GRANT,
  IS_VALID_KEY,
  KEY_LIMITS,
  SCOPES_OF_GRANT,
} from '../auth/valid-keys.js';
import { hashKey } from '../../platform/access/api-key-format.js';
import type { KeyRecord } from '../../platform/access/credential-store.js';
import { ORGANIZATION_COLUMNS } from '../../platform/data/call.js';
import { SystemDatabase } from '../../platform/data/gateway/system-database.js';
import { Job } from '../../platform/jobs/job.decorator.js';
import { GrantsRepository } from './grants.repository.js';

/** An access token with its grant and key, which are all valid. */
interface ValidToken extends KeyRecord {
  readonly grant_id: string;
  readonly client_id: string;
  readonly client_name: string;
}

/** The account of every grant. A grant belongs to an API key, and people have no accounts. */
export const ACCOUNT = 'latitude';

/** The form of the ids of registered clients. Other clients have a URL. */
const CLIENT_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** Registrations that no person has granted anything to are kept for this time. */
const UNUSED_CLIENT_LIFETIME = '1 day';

/**
 * A refresh token can be used again for this time after its first use, because clients lose responses. It is found as
 * unused until then, so that oidc-provider accepts it.
 */
const REPEATABLE = '30 seconds';

const FIND_ARTIFACT = `
  select payload, grant_id, case
    when kind = 'RefreshToken' and consumed_at > now() - interval '${REPEATABLE}' then null
    else floor(extract(epoch from consumed_at))::float8 end as consumed
  from oauth_artifacts where id_hash = $1 and kind = $2 and expires_at > now()`;

const STORE_ARTIFACT = `
  insert into oauth_artifacts (id_hash, kind, grant_id, payload, expires_at)
  values ($1, $2, $3, $4, now() + make_interval(secs => $5))
  on conflict (id_hash, kind) do update set payload = excluded.payload, expires_at = excluded.expires_at`;

/** The time of the first use is kept. */
const CONSUME_ARTIFACT = `
  update oauth_artifacts set consumed_at = now()
  where id_hash = $1 and kind = $2 and consumed_at is null returning kind`;

const DELETE_ARTIFACTS = 'delete from oauth_artifacts where kind = $1';

/**
 * Used tokens of other grants are kept, because a token that is used again ends its grant. Grants of suspended organizations
 * continue when these do.
 */
const DELETE_ENDED = `
  delete from oauth_artifacts where id_hash in (
    select id_hash from oauth_artifacts where grant_id in (
      select grants.id from oauth_grants grants join api_keys key on key.id = grants.key_id
      where not (${IS_VALID_GRANT} and ${HAS_NOT_ENDED}))
    limit 10000)`;

const FIND_TOKEN = `
  select key.id, key.name, key.user_id, least(key.expires_at, grants.expires_at) as expires_at, ${KEY_LIMITS},
    grants.confirmations, grants.id as grant_id, grants.client_id, grants.client_name, ${ORGANIZATION_COLUMNS},
    array(select unnest(${SCOPES_OF_GRANT}) intersect
      select unnest(string_to_array(token.payload ->> 'scope', ' '))) as scopes
  from oauth_artifacts token
    join oauth_grants grants on grants.id = token.grant_id and ${IS_VALID_GRANT}
    join api_keys key on key.id = grants.key_id and ${IS_VALID_KEY}
    join organizations organization on organization.id = key.organization_id
  where token.id_hash = $1 and token.kind = 'AccessToken' and token.expires_at > now()
    and token.payload ->> 'aud' = any($2::text[])`;

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

/** SQL of what oidc-provider stores: registered clients, codes, tokens and unfinished authorizations. */
@Injectable()
export class OAuthRepository {
  constructor(
    private readonly database: SystemDatabase,
    private readonly grants: GrantsRepository,
  ) {}

  /** Where oidc-provider stores its data of this kind, such as `RefreshToken`. */
  adapterOf(kind: string): Adapter {
    if (kind === 'Client') return this.clientAdapter();
    if (kind === 'Grant') return this.grantAdapter();
    if (kind === 'Session') return EMPTY;
    return this.artifactAdapter(kind);
  }

  /** @throws ApiError `query_failed` */
  async findClient(id: string): Promise<AdapterPayload | undefined> {
    if (!CLIENT_ID.test(id)) return undefined;
    const text = 'select metadata from oauth_clients where id = $1';
    type Row = Readonly<Record<'metadata', AdapterPayload>>;
    return (await this.database.read<Row>(text, [id]))[0]?.metadata;
  }

  /**
   * Finds a valid access token.
   * @param resources the identifiers of the resource that the token must have been issued for
   * @throws ApiError `query_failed`
   */
  async findToken(token: string, resources: readonly string[]): Promise<ValidToken | undefined> {
    const values = [hashKey(token), resources];
    return (await this.database.read<ValidToken>(FIND_TOKEN, values))[0];
  }

  /**
   * Deletes artifacts that have expired or whose grant has ended, and clients that were never used.
   * @throws ApiError `create_failed`
   */
  @Job({ name: 'latitude.expired-sign-ins', every: '10m' })
  async deleteExpired(): Promise<void> {
    await this.database.write(
      { text: 'delete from oauth_artifacts where expires_at < now()', values: [] },
      {
        text: `delete from oauth_clients client where created_at < now() - interval '${UNUSED_CLIENT_LIFETIME}'
          and not exists (select from oauth_grants grants where grants.client_id = client.id)`,
        values: [],
      },
    );
    // Apart from the others: the end of a key can end many grants, and their artifacts take several runs.
    await this.database.write({ text: DELETE_ENDED, values: [] });
  }

  /** Stores clients that have registered themselves. */
  private clientAdapter(): Adapter {
    const text = 'insert into oauth_clients (id, metadata) values ($1, $2)';
    return {
      ...EMPTY,
      upsert: (id, metadata) => this.write(text, id, JSON.stringify(metadata)),
      find: (id) => this.findClient(id),
    };
  }

  /** Finds and ends grants. The page creates them. */
  private grantAdapter(): Adapter {
    return {
      ...EMPTY,
      find: async (id) => {
        const grant = await this.grants.findValid(id);
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
      destroy: (id) => this.grants.end(id),
    };
  }

  /** Stores codes, tokens and unfinished authorizations for a limited time, each under the hash of its id. */
  private artifactAdapter(kind: string): Adapter {
    const find = async (id: string) => {
      const values = [hashKey(id), kind];
      return (await this.database.read<StoredArtifact>(FIND_ARTIFACT, values))[0];
    };
    return {
      ...EMPTY,

      upsert: (id, { jti: _, grantId = null, ...payload }, lifetimeSeconds) => {
        const json = JSON.stringify(payload);
        return this.write(STORE_ARTIFACT, hashKey(id), kind, grantId, json, lifetimeSeconds);
      },

      find: async (id) => {
        const { payload, grant_id: grantId, consumed } = (await find(id)) ?? {};
        return (
          payload && {
            ...payload,
            jti: id,
            ...(grantId && { grantId }),
            ...(consumed && { consumed }),
          }
        );
      },

      consume: async (id) => {
        const values = [hashKey(id), kind];
        const first = await this.database.write({ text: CONSUME_ARTIFACT, values });
        if (first.length > 0 || kind !== 'AuthorizationCode') return;
        // Another request has used the code since it was looked up.
        const { grant_id: grantId } = (await find(id)) ?? {};
        if (grantId) await this.grants.end(grantId);
        throw new errors.InvalidGrant('authorization code already consumed');
      },

      destroy: (id) => this.write(`${DELETE_ARTIFACTS} and id_hash = $2`, kind, hashKey(id)),
      revokeByGrantId: (id) => this.write(`${DELETE_ARTIFACTS} and grant_id = $2`, kind, id),
    };
  }

  private async write(text: string, ...values: readonly unknown[]): Promise<void> {
    await this.database.write({ text, values });
  }
}

/** What oidc-provider has stored under an id. */
interface StoredArtifact {
  readonly payload: AdapterPayload;
  readonly grant_id: string | null;
  /** When it was used, in seconds, if it cannot be used again. */
  readonly consumed: number | null;
}

function secondsOf(time: Date): number {
  return Math.floor(time.getTime() / 1_000);
}
