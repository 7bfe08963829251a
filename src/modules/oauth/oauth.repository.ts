import { Injectable } from '@nestjs/common';
import {
  IS_VALID_GRANT,
  IS_VALID_KEY,
  ORGANIZATION_COLUMNS,
  SCOPES_OF_GRANT,
} from '../../platform/access/access.repository.js';
import { AdministrativeWrites } from '../../platform/data/gateway/administrative-writes.js';
import { SharedLookups } from '../../platform/data/gateway/shared-lookups.js';
import type { OrganizationColumns } from '../../platform/data/call.js';

/** What oidc-provider stores under an id for a limited time. The id is stored as its hash. */
export interface Artifact {
  /** Such as `RefreshToken`. */
  readonly kind: string;
  readonly idHash: Buffer;
  readonly grantId: string | undefined;
  readonly payload: object;
  readonly lifetimeSeconds: number;
}

type ArtifactId = Pick<Artifact, 'kind' | 'idHash'>;

export interface StoredArtifact {
  readonly payload: object;
  readonly grant_id: string | null;
  readonly consumed_at: Date | null;
  readonly consumed_seconds_ago: number | null;
}

/** An access token with its grant and key, which are all valid. */
export interface ValidToken extends OrganizationColumns {
  readonly key_id: string;
  readonly key_name: string;
  readonly user_id: string | null;
  readonly expires_at: Date;
  readonly grant_id: string;
  readonly client_id: string;
  readonly client_name: string;
  readonly scopes: readonly string[];
}

/** Registrations that no person has granted anything to are kept for this time. */
const UNUSED_CLIENT_LIFETIME = '1 day';

const FIND_ARTIFACT = `
  select payload, grant_id, consumed_at, extract(epoch from now() - consumed_at)::float8 as consumed_seconds_ago
  from oauth_artifacts where id_hash = $1 and kind = $2 and expires_at > now()`;

const STORE_ARTIFACT = `
  insert into oauth_artifacts (id_hash, kind, grant_id, payload, expires_at)
  values ($1, $2, $3, $4, now() + make_interval(secs => $5))
  on conflict (id_hash, kind) do update set payload = excluded.payload, expires_at = excluded.expires_at`;

const FIND_TOKEN = `
  select key.id as key_id, key.name as key_name, key.user_id,
    least(key.expires_at, grants.expires_at) as expires_at,
    grants.id as grant_id, grants.client_id, grants.client_name, ${ORGANIZATION_COLUMNS},
    array(select unnest(${SCOPES_OF_GRANT}) intersect
      select unnest(string_to_array(token.payload ->> 'scope', ' '))) as scopes
  from oauth_artifacts token
    join oauth_grants grants on grants.id = token.grant_id and ${IS_VALID_GRANT}
    join api_keys key on key.id = grants.key_id and ${IS_VALID_KEY}
    join organizations organization on organization.id = key.organization_id
  where token.id_hash = $1 and token.kind = 'AccessToken' and token.expires_at > now()
    and token.payload ->> 'aud' = any($2::text[])`;

/** SQL of what oidc-provider stores: registered clients, codes, tokens and unfinished authorizations. */
@Injectable()
export class OAuthRepository {
  constructor(
    private readonly lookups: SharedLookups,
    private readonly writes: AdministrativeWrites,
  ) {}

  /** @throws ApiError `query_failed` */
  async findClient(id: string): Promise<object | undefined> {
    const text = 'select metadata from oauth_clients where id = $1';
    const [client] = await this.lookups.find<{ metadata: object }>('oauth-client', text, [id]);
    return client?.metadata;
  }

  /** @throws ApiError `create_failed` */
  async insertClient(id: string, metadata: object): Promise<void> {
    const text = 'insert into oauth_clients (id, metadata) values ($1, $2)';
    await this.writes.run({ text, values: [id, JSON.stringify(metadata)] });
  }

  /** @throws ApiError `query_failed` */
  async findArtifact({ kind, idHash }: ArtifactId): Promise<StoredArtifact | undefined> {
    const values = [idHash, kind];
    return (await this.lookups.find<StoredArtifact>('oauth-artifact', FIND_ARTIFACT, values))[0];
  }

  /** @throws ApiError `create_failed` */
  async storeArtifact(artifact: Artifact): Promise<void> {
    const { kind, idHash, grantId = null, payload, lifetimeSeconds } = artifact;
    const values = [idHash, kind, grantId, JSON.stringify(payload), lifetimeSeconds];
    await this.writes.run({ text: STORE_ARTIFACT, values });
  }

  /**
   * Marks an artifact as used. The time of the first use is kept.
   * @returns whether it was not used before
   * @throws ApiError `create_failed`
   */
  async consumeArtifact({ kind, idHash }: ArtifactId): Promise<boolean> {
    const text = `update oauth_artifacts set consumed_at = now()
      where id_hash = $1 and kind = $2 and consumed_at is null returning kind`;
    return (await this.writes.run({ text, values: [idHash, kind] })).length > 0;
  }

  /** @throws ApiError `create_failed` */
  async deleteArtifact({ kind, idHash }: ArtifactId): Promise<void> {
    const text = 'delete from oauth_artifacts where id_hash = $1 and kind = $2';
    await this.writes.run({ text, values: [idHash, kind] });
  }

  /** @throws ApiError `create_failed` */
  async deleteArtifactsOf(grantId: string, kind: string): Promise<void> {
    const text = 'delete from oauth_artifacts where grant_id = $1 and kind = $2';
    await this.writes.run({ text, values: [grantId, kind] });
  }

  /**
   * Finds a valid access token.
   * @param resources the identifiers of the resource that the token must have been issued for
   * @throws ApiError `query_failed`
   */
  async findToken(idHash: Buffer, resources: readonly string[]): Promise<ValidToken | undefined> {
    return (await this.lookups.find<ValidToken>('oauth-token', FIND_TOKEN, [idHash, resources]))[0];
  }

  /**
   * Deletes artifacts that have expired and clients that were never used.
   * @throws ApiError `create_failed`
   */
  async deleteExpired(): Promise<void> {
    await this.writes.run(
      { text: 'delete from oauth_artifacts where expires_at < now()', values: [] },
      {
        text: `delete from oauth_clients client where created_at < now() - interval '${UNUSED_CLIENT_LIFETIME}'
          and not exists (select from oauth_grants grants where grants.client_id = client.id)`,
        values: [],
      },
    );
  }
}
