import { Injectable } from '@nestjs/common';
import { IS_VALID_GRANT, IS_VALID_KEY, SCOPES_OF_GRANT } from '../auth/valid-keys.js';
import {
  AuditLog,
  type AuditOrigin,
  insertAuditEntries,
} from '../../platform/data/audit/audit-log.js';
import type { Call, TenantCall } from '../../platform/data/call.js';
import { SystemDatabase } from '../../platform/data/gateway/system-database.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { Conditions } from '../../platform/data/lists/conditions.js';
import type { ListQuery } from '../../platform/data/lists/list-query.js';
import { ListedRepository } from '../../platform/data/lists/listed-repository.js';
import { insertEvents } from '../../platform/data/records/event-outbox.js';
import { Grant } from './grants.entity.js';
import type { GrantDto } from './grants.dto.js';

/** A grant that is valid, with the scopes that its key still has. */
type ValidGrant = Pick<GrantDto, 'client_id' | 'scopes' | 'created_at' | 'expires_at'> & {
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

/** The request with which a person answers. */
export interface SignInRequest {
  readonly requestId: string;
  readonly clientAddress: string | undefined;
}

/** The longest time that a grant lasts. It ends earlier with its key. */
const LIFETIME = '180 days';

const EXPIRES_AT = `least(key.expires_at, now() + interval '${LIFETIME}')`;

const COLUMNS = `id, organization_id, key_id, user_id, client_id, client_name, scopes, confirmations, created_at, expires_at,
  last_used_at, revoked_at`;

const FIND_VALID = `
  select grants.client_id, grants.resource, grants.created_at, grants.expires_at, ${SCOPES_OF_GRANT} as scopes
  from oauth_grants grants join api_keys key on key.id = grants.key_id and ${IS_VALID_KEY}
  where grants.id = $1 and ${IS_VALID_GRANT}`;

const FIND_KEY = `
  select key.id, key.name, key.scopes, key.organization_id, organization.name as organization_name, ${EXPIRES_AT} as grant_expires_at
  from api_keys key join organizations organization on organization.id = key.organization_id
  where key.id = $1 and ${IS_VALID_KEY}`;

/** Marks an authorization as answered, unless it was answered before. `$1`: the hash of its id. */
const USE_AUTHORIZATION = `
  update oauth_artifacts set consumed_at = now()
  where id_hash = $1 and kind = 'Interaction' and consumed_at is null and expires_at > now()
  returning 1`;

/** @param grant the query whose rows are the grants */
const eventOf = (grant: string, change: string) => ({
  organization_id: 'organization_id',
  record_id: 'id',
  record: `row_to_json(${grant})`,
  type: `'grant.${change}'`,
  changed: "'{}'",
  key_id: 'key_id',
  client_id: 'client_id',
});

const INSERT = `
  with inserted as (
    insert into oauth_grants
      (organization_id, id, key_id, user_id, client_id, client_name, resource, scopes, expires_at)
    select key.organization_id, $2, key.id, key.user_id, $4, $5, $6, $7, ${EXPIRES_AT}
    from api_keys key where organization_id = $1 and key.id = $3 and ${IS_VALID_KEY} and $7::text[] <@ key.scopes
    returning ${COLUMNS}),
  entries as (${insertAuditEntries('$1', '$8', 'exists (select from inserted)')})
  ${insertEvents({ ...eventOf('inserted', 'created'), grant_id: 'id' }, 'inserted')}
  returning 1`;

const REFUSE = `
  with refused as (
    select key.organization_id, $2::uuid as id, key.id as key_id, $4::text as client_id, $5::text as client_name,
      $6::text[] as scopes
    from api_keys key where organization_id = $1 and key.id = $3)
  ${insertEvents(eventOf('refused', 'refused'), 'refused')}`;

/** SQL of grants. Keys and grants are found before the organization is known. */
@Injectable()
export class GrantsRepository extends ListedRepository<Grant, ListQuery> {
  constructor(
    database: TenantDatabase,
    private readonly system: SystemDatabase,
    private readonly audit: AuditLog,
  ) {
    super(database, { entity: Grant });
  }

  protected conditionsOf(call: Call): Conditions {
    return new Conditions(call);
  }

  /**
   * All grants of an organization, the oldest first.
   * @throws ApiError `query_failed`
   */
  all(call: TenantCall): Promise<Grant[]> {
    return this.query(call, (grants) => grants.orderBy('created_at').addOrderBy('id'));
  }

  /**
   * @returns undefined for a grant that does not exist or has ended, itself or with its key
   * @throws ApiError `query_failed`
   */
  async findValid(id: string): Promise<ValidGrant | undefined> {
    return (await this.system.read<ValidGrant>(FIND_VALID, [id]))[0];
  }

  /** @throws ApiError `query_failed` */
  async findKey(id: string): Promise<GrantingKey | undefined> {
    return (await this.system.read<GrantingKey>(FIND_KEY, [id]))[0];
  }

  /**
   * Stores a grant with its event and its entry of the audit log, and ends its authorization.
   * @param request that of the browser
   * @returns false if the authorization has ended, or the key is not valid or lacks a scope
   * @throws ApiError `create_failed`
   */
  async grant(key: GrantingKey, grant: NewGrant, request: SignInRequest): Promise<boolean> {
    if (!(await this.useAuthorization(grant))) return false;
    const { id, client_id, client_name, resource, scopes } = grant;
    const origin = originOf(key, grant, request);
    const entries = this.audit.prepare(origin, [['grant.created', id]]);
    const { tenant } = origin;
    const values = [tenant.id, id, key.id, client_id, client_name, resource, scopes, entries.json];
    const isGranted = (await this.database.write({ tenant }, { text: INSERT, values })).length > 0;
    if (isGranted) entries.publish();
    return isGranted;
  }

  /**
   * Ends an authorization without a grant, with an event.
   * @param key undefined if the person has pasted none. No organization has an event then.
   * @returns false if the authorization has ended
   * @throws ApiError `create_failed`
   */
  async refuse(key: GrantingKey | undefined, grant: NewGrant): Promise<boolean> {
    if (!(await this.useAuthorization(grant))) return false;
    if (!key) return true;
    const { id, client_id, client_name, scopes } = grant;
    const values = [key.organization_id, id, key.id, client_id, client_name, scopes];
    await this.database.write({ tenant: { id: key.organization_id } }, { text: REFUSE, values });
    return true;
  }

  /** @returns false if the authorization has ended */
  private async useAuthorization({ interactionHash }: NewGrant): Promise<boolean> {
    const values = [interactionHash];
    return (await this.system.write({ text: USE_AUTHORIZATION, values })).length > 0;
  }

  /**
   * Ends a grant, if there is one.
   * @throws ApiError `query_failed`, `create_failed`
   */
  async end(id: string): Promise<void> {
    const organization = await this.findOrganization(id);
    if (organization === undefined) return;
    await this.revoke({ tenant: { id: organization } }, id);
  }

  /**
   * Revokes a grant, with an event. The time of an earlier revocation is kept.
   * @param assertAllowed throws if the caller may not do so
   * @returns undefined if the organization has no such grant
   * @throws ApiError `precondition_failed`, `create_failed`, and any error of `assertAllowed`
   */
  revoke(
    call: TenantCall,
    id: string,
    assertAllowed: (grant: Grant) => void = () => undefined,
  ): Promise<Grant | undefined> {
    return this.database.transaction(call, async (inner) => {
      const stored = await this.update(inner, id, (grant) => {
        assertAllowed(grant);
        return grant.revoked_at ? undefined : { revoked_at: new Date() };
      }).stored;
      if (stored && !stored.isUnchanged) await this.audit.add(inner, ['grant.revoked', id]);
      return stored?.value();
    });
  }

  /**
   * The organization of a grant.
   * @throws ApiError `query_failed`
   */
  async findOrganization(id: string): Promise<string | undefined> {
    const text = 'select organization_id from oauth_grants where id = $1';
    type Row = Pick<GrantDto, 'organization_id'>;
    return (await this.system.read<Row>(text, [id]))[0]?.organization_id;
  }
}

/** Who grants: a person with the key. */
function originOf(
  { id, name, organization_id }: GrantingKey,
  { id: grantId, client_id: clientId, client_name: clientName }: NewGrant,
  { requestId, clientAddress: address }: SignInRequest,
): AuditOrigin {
  const grant = { id: grantId, clientId, clientName };
  const actor = { key: { id, name, expiresAt: null, userId: null, grant } };
  return { tenant: { id: organization_id }, actor, requestId, address };
}
