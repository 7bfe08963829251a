import { Injectable } from '@nestjs/common';
import {
  IS_VALID_GRANT,
  IS_VALID_KEY,
  SCOPES_OF_GRANT,
} from '../../platform/access/access.repository.js';
import { AdministrativeWrites } from '../../platform/data/gateway/administrative-writes.js';
import { SharedLookups } from '../../platform/data/gateway/shared-lookups.js';

/** What a person has granted to a client. */
export interface Grant {
  readonly id: string;
  readonly organization_id: string;
  readonly key_id: string;
  readonly client_id: string;
  readonly client_name: string;
  readonly scopes: readonly string[];
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly last_used_at: Date | null;
  readonly revoked_at: Date | null;
}

/** A grant that is valid, with the scopes that its key still has. */
export type ValidGrant = Pick<Grant, 'client_id' | 'scopes' | 'created_at' | 'expires_at'> & {
  readonly resource: string;
};

/** A key that a person grants a part of. */
export interface GrantingKey {
  readonly id: string;
  readonly name: string;
  readonly organization_name: string;
  readonly scopes: readonly string[];
  /** When a grant of the key would end. */
  readonly grant_expires_at: Date;
}

export interface NewGrant extends Pick<Grant, 'id' | 'key_id' | 'client_id' | 'client_name'> {
  readonly resource: string;
  readonly scopes: readonly string[];
  /** The hash of the id of the authorization, which creates one grant only. */
  readonly interactionHash: Buffer;
}

/** The longest time that a grant lasts. It ends earlier with its key. */
const LIFETIME = '180 days';

const EXPIRES_AT = `least(key.expires_at, now() + interval '${LIFETIME}')`;

const COLUMNS = `grants.id, key.organization_id, grants.key_id, grants.client_id, grants.client_name, grants.scopes,
  grants.created_at, grants.expires_at, grants.last_used_at, grants.revoked_at`;

const FIND_VALID = `
  select grants.client_id, grants.resource, grants.created_at, grants.expires_at, ${SCOPES_OF_GRANT} as scopes
  from oauth_grants grants join api_keys key on key.id = grants.key_id and ${IS_VALID_KEY}
  where grants.id = $1 and ${IS_VALID_GRANT}`;

const FIND_KEY = `
  select key.id, key.name, organization.name as organization_name, key.scopes, ${EXPIRES_AT} as grant_expires_at
  from api_keys key join organizations organization on organization.id = key.organization_id
  where key.id = $1 and ${IS_VALID_KEY}`;

const INSERT = `
  with used as (
    update oauth_artifacts set consumed_at = now()
    where id_hash = $1 and kind = 'Interaction' and consumed_at is null and expires_at > now()
    returning 1
  )
  insert into oauth_grants (id, key_id, client_id, client_name, resource, scopes, expires_at)
  select $2, key.id, $4, $5, $6, $7, ${EXPIRES_AT}
  from used, api_keys key
  where key.id = $3 and ${IS_VALID_KEY} and $7::text[] <@ key.scopes
  returning id`;

/** SQL of grants. */
@Injectable()
export class GrantsRepository {
  constructor(
    private readonly lookups: SharedLookups,
    private readonly writes: AdministrativeWrites,
  ) {}

  /** @throws ApiError `query_failed` */
  async findValid(id: string): Promise<ValidGrant | undefined> {
    return (await this.lookups.find<ValidGrant>('valid-grant', FIND_VALID, [id]))[0];
  }

  /** @throws ApiError `query_failed` */
  async findKey(id: string): Promise<GrantingKey | undefined> {
    return (await this.lookups.find<GrantingKey>('granting-key', FIND_KEY, [id]))[0];
  }

  /**
   * Stores a grant and ends its authorization.
   * @returns false if the authorization has ended, or the key is not valid or lacks a scope
   * @throws ApiError `create_failed`
   */
  async insert(grant: NewGrant): Promise<boolean> {
    const { interactionHash, id, key_id, client_id, client_name, resource, scopes } = grant;
    const values = [interactionHash, id, key_id, client_id, client_name, resource, scopes];
    return (await this.writes.run({ text: INSERT, values })).length > 0;
  }

  /**
   * Revokes a grant. The time of an earlier revocation is kept.
   * @throws ApiError `create_failed`
   */
  async revoke(id: string): Promise<Grant | undefined> {
    const text = `update oauth_grants grants set revoked_at = coalesce(grants.revoked_at, now()) from api_keys key
      where grants.id = $1 and key.id = grants.key_id
      returning ${COLUMNS}`;
    return (await this.writes.run<Grant>({ text, values: [id] }))[0];
  }

  /** @throws ApiError `query_failed` */
  list(organizationId: string): Promise<Grant[]> {
    const text = `select ${COLUMNS} from oauth_grants grants join api_keys key on key.id = grants.key_id
      where key.organization_id = $1 order by grants.created_at, grants.id`;
    return this.lookups.find<Grant>('grants', text, [organizationId]);
  }
}
