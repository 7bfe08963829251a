import { Injectable } from '@nestjs/common';
import { CredentialStore, type KeyRecord } from '../../platform/access/credential-store.js';
import { BatchQueue } from '../../platform/data/gateway/queues.js';
import { SystemDatabase } from '../../platform/data/gateway/system-database.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import {
  type Call,
  ORGANIZATION_COLUMNS,
  type OrganizationColumns,
} from '../../platform/data/call.js';
import { IS_VALID_GRANT, IS_VALID_KEY, KEY_LIMITS, SCOPES_OF_GRANT } from './valid-keys.js';

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

const updateLastUsedIn = (table: 'api_keys' | 'oauth_grants' | 'operator_keys', owner: string) => `
  update ${table} set last_used_at = now()
  where ${owner} = $1 and id = $2
    and (last_used_at is null or last_used_at < now() - interval '${LAST_USED_PRECISION}')`;

/** SQL of keys and grants that callers send. The look-ups are before an organization, because the key determines it. */
@Injectable()
export class CredentialsRepository extends CredentialStore {
  private readonly lookupsByHash = new BatchQueue<Buffer, KeyRecord | undefined>(
    { concurrency: 2, batchSize: ({ length }) => Math.min(length, MAX_LOOKUPS) },
    async (take) => {
      type Row = KeyRecord & { hash: string };
      const hashes = take();
      const keys = await this.database.read<Row>(FIND_KEYS_BY_HASH, [hashes]);
      const byHash = new Map(keys.map(({ hash, ...key }) => [hash, key]));
      return hashes.map((hash) => byHash.get(hash.toString('hex')));
    },
  );

  constructor(
    private readonly database: SystemDatabase,
    private readonly tenants: TenantDatabase,
  ) {
    super();
  }

  findKeyByHash(hash: Buffer): Promise<KeyRecord | undefined> {
    return this.lookupsByHash.add(hash);
  }

  async findOperatorKey(hash: Buffer): Promise<KeyRecord | undefined> {
    return (await this.database.read<KeyRecord>(FIND_OPERATOR_KEY, [hash]))[0];
  }

  async findScopes(ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    type Row = Pick<KeyRecord, 'id' | 'scopes'>;
    const found = await this.database.read<Row>(FIND_SCOPES, [ids]);
    return new Map(found.map(({ id, scopes }) => [id, scopes]));
  }

  async findOrganization(id: string): Promise<OrganizationColumns | undefined> {
    return (await this.database.read<OrganizationColumns>(FIND_ORGANIZATION, [id]))[0];
  }

  async findSuspended(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const text = 'select id from organizations where id = any($1::uuid[]) and suspended';
    const found = await this.database.read<{ id: string }>(text, [ids]);
    return new Set(found.map(({ id }) => id));
  }

  async updateLastUsed({ tenant, actor: { key } }: Call): Promise<void> {
    const { id, grant, operatorId } = key;
    if (operatorId !== undefined) {
      const text = updateLastUsedIn('operator_keys', 'operator_id');
      await this.database.write({ text, values: [operatorId, id] });
      return;
    }
    const update = (table: 'api_keys' | 'oauth_grants', used: string) => {
      const text = updateLastUsedIn(table, 'organization_id');
      return this.tenants.write({ tenant }, { text, values: [tenant.id, used], plan: 'index' });
    };
    await update('api_keys', id);
    if (grant) await update('oauth_grants', grant.id);
  }
}
