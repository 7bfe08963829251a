import { Injectable } from '@nestjs/common';
import { BatchQueue } from '../data/gateway/queues.js';
import { SystemDatabase } from '../data/gateway/system-database.js';
import {
  type Actor,
  type Confirmations,
  ORGANIZATION_COLUMNS,
  type OrganizationColumns,
} from '../data/call.js';

/** A key that is not revoked, with its organization. */
export interface ApiKeyRecord extends OrganizationColumns {
  readonly id: string;
  readonly name: string;
  readonly scopes: readonly string[];
  readonly expires_at: Date | null;
  readonly user_id: string | null;
  /** The limits of an API key, if they are not those of the settings. */
  readonly reads_per_minute?: number | null;
  readonly writes_per_minute?: number | null;
  /** Of an API key or a grant. */
  readonly confirmations?: Confirmations;
  /** Of a key of an operator, who stands for the organization and has no scopes. */
  readonly operator_id?: string;
}

type UsedKey = Pick<Actor['key'], 'id' | 'grant' | 'operatorId'>;

/** SQL condition of a key that is neither revoked nor expired. `key` is the alias of `api_keys`. */
export const HAS_NOT_ENDED =
  'key.revoked_at is null and (key.expires_at is null or key.expires_at > now())';

/** SQL condition of a key that is accepted: it has not ended, and its organization is not suspended. */
export const IS_VALID_KEY = `${HAS_NOT_ENDED} and not exists (
    select from organizations where organizations.id = key.organization_id and organizations.suspended)`;

/** SQL condition of a grant that is neither revoked nor expired. `grants` is the alias of `oauth_grants`. */
export const IS_VALID_GRANT = 'grants.revoked_at is null and grants.expires_at > now()';

/** SQL of the scopes of a grant that its key still has. */
export const SCOPES_OF_GRANT =
  'array(select unnest(grants.scopes) intersect select unnest(key.scopes) order by 1)';

/** SQL of the limits that a key has of its own. `key` is the alias of `api_keys`. */
export const KEY_LIMITS = 'key.reads_per_minute, key.writes_per_minute';

const FIND_KEYS_BY_HASH = `
  select encode(key.key_hash, 'hex') as hash, key.id, key.name, key.scopes, key.expires_at, key.user_id,
    key.confirmations, ${KEY_LIMITS},
    ${ORGANIZATION_COLUMNS}
  from api_keys key join organizations organization on organization.id = key.organization_id
  where key.key_hash = any($1::bytea[]) and key.revoked_at is null and not organization.suspended`;

const FIND_OPERATOR_KEY = `
  select id, name, array[]::text[] as scopes, expires_at, null as user_id, operator_id,
    operator_id as organization_id, name as organization_name, '' as phone_region, '' as time_zone,
    'allow' as unknown_fields, 0 as definitions_version
  from operator_keys where key_hash = $1 and revoked_at is null`;

const FIND_SCOPES = `
  select id, scopes from api_keys key where id = any($1::uuid[]) and ${IS_VALID_KEY}
  union all
  select grants.id, ${SCOPES_OF_GRANT}
  from oauth_grants grants join api_keys key on key.id = grants.key_id and ${IS_VALID_KEY}
  where grants.id = any($1::uuid[]) and ${IS_VALID_GRANT}`;

const FIND_ORGANIZATION = `
  select ${ORGANIZATION_COLUMNS} from organizations organization where id = $1 and not suspended`;

/** Maximum number of keys that one statement looks up. */
const MAX_LOOKUPS = 64;

const LAST_USED_PRECISION = '1 minute';

const updateLastUsedIn = (table: 'api_keys' | 'oauth_grants' | 'operator_keys') => `
  update ${table} set last_used_at = now()
  where id = $1 and (last_used_at is null or last_used_at < now() - interval '${LAST_USED_PRECISION}')`;

/**
 * SQL of what requests need to know about keys and organizations. It is not limited to one tenant, because the key
 * determines the tenant.
 */
@Injectable()
export class AccessRepository {
  private readonly lookupsByHash = new BatchQueue<Buffer, ApiKeyRecord | undefined>(
    { concurrency: 2, batchSize: ({ length }) => Math.min(length, MAX_LOOKUPS) },
    async (take) => {
      type Row = ApiKeyRecord & { hash: string };
      const hashes = take();
      const keys = await this.database.read<Row>(FIND_KEYS_BY_HASH, [hashes]);
      const byHash = new Map(keys.map(({ hash, ...key }) => [hash, key]));
      return hashes.map((hash) => byHash.get(hash.toString('hex')));
    },
  );

  constructor(private readonly database: SystemDatabase) {}

  /** @throws ApiError `query_failed` */
  findKeyByHash(hash: Buffer): Promise<ApiKeyRecord | undefined> {
    return this.lookupsByHash.add(hash);
  }

  /** @throws ApiError `query_failed` */
  async findOperatorKey(hash: Buffer): Promise<ApiKeyRecord | undefined> {
    return (await this.database.read<ApiKeyRecord>(FIND_OPERATOR_KEY, [hash]))[0];
  }

  /**
   * The scopes of keys and grants by their ids, without those that are revoked or expired.
   * @throws ApiError `query_failed`
   */
  async findScopes(ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    type Row = Pick<ApiKeyRecord, 'id' | 'scopes'>;
    const found = await this.database.read<Row>(FIND_SCOPES, [ids]);
    return new Map(found.map(({ id, scopes }) => [id, scopes]));
  }

  /**
   * An organization, unless it is suspended.
   * @throws ApiError `query_failed`
   */
  async findOrganization(id: string): Promise<OrganizationColumns | undefined> {
    return (await this.database.read<OrganizationColumns>(FIND_ORGANIZATION, [id]))[0];
  }

  /**
   * Those of some organizations that are suspended.
   * @throws ApiError `query_failed`
   */
  async findSuspended(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const text = 'select id from organizations where id = any($1::uuid[]) and suspended';
    const found = await this.database.read<{ id: string }>(text, [ids]);
    return new Set(found.map(({ id }) => id));
  }

  /**
   * Stores the time of the last use of a key and of its grant, at most once a minute for each.
   * @throws ApiError `create_failed`
   */
  async updateLastUsed({ id, grant, operatorId }: UsedKey): Promise<void> {
    const table = operatorId === undefined ? 'api_keys' : 'operator_keys';
    await this.database.write(
      { text: updateLastUsedIn(table), values: [id] },
      ...(grant ? [{ text: updateLastUsedIn('oauth_grants'), values: [grant.id] }] : []),
    );
  }
}
