import { Injectable } from '@nestjs/common';
import {
  IS_VALID_GRANT,
  IS_VALID_KEY,
  SCOPES_OF_GRANT,
} from '../../platform/access/access.repository.js';
import type { Confirmations, TenantCall } from '../../platform/data/call.js';
import { LookupList } from '../../platform/data/lists/lookup-list.js';
import { originOf } from '../../platform/data/records/record-changes.js';
import { GrantDto } from './grants.dto.js';
import type { Statement } from '../../platform/data/gateway/statement.js';
import { SystemDatabase } from '../../platform/data/gateway/system-database.js';

/** A grant that is valid, with the scopes that its key still has. */
export type ValidGrant = Pick<GrantDto, 'client_id' | 'scopes' | 'created_at' | 'expires_at'> & {
  readonly resource: string;
};

/** A key that a person grants a part of. */
export interface GrantingKey {
  readonly id: string;
  readonly name: string;
  readonly organization_id: string;
  readonly organization_name: string;
  readonly scopes: readonly string[];
  /** When a grant of the key would end. */
  readonly grant_expires_at: Date;
}

/** What a person grants or refuses. */
export interface NewGrant extends Pick<GrantDto, 'id' | 'client_id' | 'client_name'> {
  readonly resource: string;
  readonly scopes: readonly string[];
  /** The hash of the id of the authorization, which creates one grant only. */
  readonly interactionHash: Buffer;
}

/** The longest time that a grant lasts. It ends earlier with its key. */
const LIFETIME = '180 days';

const EXPIRES_AT = `least(key.expires_at, now() + interval '${LIFETIME}')`;

const COLUMNS = `grants.id, key.organization_id, grants.key_id, key.user_id, grants.client_id, grants.client_name, grants.scopes,
  grants.confirmations, grants.created_at, grants.expires_at, grants.last_used_at, grants.revoked_at`;

const FIND_VALID = `
  select grants.client_id, grants.resource, grants.created_at, grants.expires_at, ${SCOPES_OF_GRANT} as scopes
  from oauth_grants grants join api_keys key on key.id = grants.key_id and ${IS_VALID_KEY}
  where grants.id = $1 and ${IS_VALID_GRANT}`;

const FIND_KEY = `
  select key.id, key.name, key.scopes, key.organization_id, organization.name as organization_name, ${EXPIRES_AT} as grant_expires_at
  from api_keys key join organizations organization on organization.id = key.organization_id
  where key.id = $1 and ${IS_VALID_KEY}`;

/** Row-level security lets a transaction write events of this organization only. */
const SET_ORGANIZATION = `select set_config('app.organization_id', $1::uuid::text, true)`;

/** The grants of the organization `$1`. */
const OF_ORGANIZATION = `
  select ${COLUMNS} from oauth_grants grants join api_keys key on key.id = grants.key_id
  where key.organization_id = $1`;

/**
 * Marks an authorization as answered. `$1`: the hash of its id. If it was answered before, `used` has no row, and nothing
 * that selects from `used` is stored.
 */
const USE_AUTHORIZATION = `
  used as (
    update oauth_artifacts set consumed_at = now()
    where id_hash = $1 and kind = 'Interaction' and consumed_at is null and expires_at > now()
    returning 1)`;

const EVENT_COLUMNS =
  'organization_id, record_id, record, type, changed, key_id, grant_id, client_id';

const INSERT = `
  with ${USE_AUTHORIZATION},
  inserted as (
    insert into oauth_grants (id, key_id, client_id, client_name, resource, scopes, expires_at)
    select $2, key.id, $4, $5, $6, $7, ${EXPIRES_AT}
    from used, api_keys key
    where key.id = $3 and ${IS_VALID_KEY} and $7::text[] <@ key.scopes
    returning *),
  created as (
    select ${COLUMNS} from inserted grants join api_keys key on key.id = grants.key_id)
  insert into event_outbox (${EVENT_COLUMNS})
  select organization_id, id, row_to_json(created), 'grant.created', '{}', key_id, id, client_id from created
  returning 1`;

const REFUSE = `
  with ${USE_AUTHORIZATION},
  refused as (
    select key.organization_id, $2::uuid as id, key.id as key_id, $4::text as client_id, $5::text as client_name,
      $6::text[] as scopes
    from used, api_keys key where key.id = $3),
  event as (
    insert into event_outbox (${EVENT_COLUMNS})
    select organization_id, id, row_to_json(refused), 'grant.refused', '{}', key_id, null, client_id from refused)
  select from used`;

/**
 * SQL that changes a grant and writes an event. `$1`: the organization, `$2`: the grant, `$3` to `$5`: the key, the channel
 * and the id of the request.
 */
const changeSql = (type: string, column: string, value: string, condition: string) => `
  with updated as (
    update oauth_grants grants set ${column} = ${value}
    where id = $2 and ${condition}
      and exists (select from api_keys key where key.id = grants.key_id and key.organization_id = $1)
    returning *),
  changed as (select ${COLUMNS} from updated grants join api_keys key on key.id = grants.key_id)
  insert into event_outbox (organization_id, record_id, record, type, changed, key_id, channel, request_id)
  select organization_id, id, row_to_json(changed), '${type}', '{${column}}', $3, $4, $5 from changed`;

const REVOKE = changeSql('grant.revoked', 'revoked_at', 'now()', 'revoked_at is null');

const SET_CONFIRMATIONS = changeSql(
  'grant.updated',
  'confirmations',
  '$6',
  'confirmations <> $6 and revoked_at is null',
);

/** SQL of grants. */
@Injectable()
export class GrantsRepository extends LookupList<GrantDto> {
  constructor(database: SystemDatabase) {
    super(database, GrantDto, OF_ORGANIZATION);
  }

  /**
   * @returns undefined for a grant that does not exist or has ended, itself or with its key
   * @throws ApiError `query_failed`
   */
  async findValid(id: string): Promise<ValidGrant | undefined> {
    return (await this.database.read<ValidGrant>(FIND_VALID, [id]))[0];
  }

  /** @throws ApiError `query_failed` */
  async findKey(id: string): Promise<GrantingKey | undefined> {
    return (await this.database.read<GrantingKey>(FIND_KEY, [id]))[0];
  }

  /**
   * Stores a grant and its event, and ends its authorization.
   * @returns false if the authorization has ended, or the key is not valid or lacks a scope
   * @throws ApiError `create_failed`
   */
  async insert(key: GrantingKey, grant: NewGrant): Promise<boolean> {
    const { interactionHash, id, client_id, client_name, resource, scopes } = grant;
    const values = [interactionHash, id, key.id, client_id, client_name, resource, scopes];
    return (await this.run(key.organization_id, { text: INSERT, values })).length > 0;
  }

  /**
   * Ends an authorization without a grant, with an event.
   * @param key undefined if the person has pasted none. No organization has an event then.
   * @returns false if the authorization has ended
   * @throws ApiError `create_failed`
   */
  async refuse(key: GrantingKey | undefined, grant: NewGrant): Promise<boolean> {
    const { interactionHash, id, client_id, client_name, scopes } = grant;
    const values = [interactionHash, id, key?.id, client_id, client_name, scopes];
    return (await this.run(key?.organization_id, { text: REFUSE, values })).length > 0;
  }

  /**
   * Revokes a grant of an organization, with an event. The time of an earlier revocation is kept.
   * @returns undefined if the organization has no such grant
   * @throws ApiError `create_failed`
   */
  revoke(call: TenantCall, id: string): Promise<GrantDto | undefined> {
    return this.change(call, id, REVOKE);
  }

  /**
   * Lets tools ask the user for a grant that is not revoked, or not, with an event.
   * @returns undefined if the organization has no such grant
   * @throws ApiError `create_failed`
   */
  setConfirmations(call: TenantCall, id: string, confirmations: Confirmations) {
    return this.change(call, id, SET_CONFIRMATIONS, confirmations);
  }

  /**
   * Ends a grant, if there is one.
   * @throws ApiError `query_failed`, `create_failed`
   */
  async end(id: string): Promise<void> {
    const organization = await this.findOrganization(id);
    if (organization) await this.revoke({ tenant: { id: organization } }, id);
  }

  /**
   * The organization of a grant.
   * @throws ApiError `query_failed`
   */
  async findOrganization(id: string): Promise<string | undefined> {
    const text = `select key.organization_id from oauth_grants grants
      join api_keys key on key.id = grants.key_id where grants.id = $1`;
    type Row = Pick<GrantDto, 'organization_id'>;
    return (await this.database.read<Row>(text, [id]))[0]?.organization_id;
  }

  private async change(
    call: TenantCall,
    id: string,
    text: string,
    ...more: readonly unknown[]
  ): Promise<GrantDto | undefined> {
    const { key_id, channel, request_id } = originOf(call);
    const organization = call.tenant.id;
    const [found] = await this.run<GrantDto>(
      organization,
      { text, values: [organization, id, key_id, channel, request_id, ...more] },
      { text: `${OF_ORGANIZATION} and grants.id = $2`, values: [organization, id] },
    );
    return found;
  }

  private run<Row>(
    organization: string | undefined,
    ...statements: readonly Statement[]
  ): Promise<Row[]> {
    return this.database.write({ text: SET_ORGANIZATION, values: [organization] }, ...statements);
  }
}
