import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import { ADMINISTRATION } from '../database/connection/administration.js';
import {
  isForeignKeyViolation,
  translateDriverError,
} from '../database/connection/driver-error.js';
import { type BatchItem, BatchQueue } from '../database/gateway/batch-queue.js';
import { SharedLookups } from '../database/gateway/shared-lookups.js';
import type { OrganizationColumns } from '../database/gateway/tenant.js';
import { ApiKey } from './api-key.entity.js';
import { Organization } from './organization.entity.js';

/** A key that is not revoked, with its organization. */
export type ApiKeyRecord = Pick<ApiKey, 'id' | 'name' | 'scopes' | 'expires_at' | 'user_id'> &
  OrganizationColumns;

/** SQL condition of a key that is neither revoked nor expired. `key` is the alias of `api_keys`. */
export const IS_VALID_KEY =
  'key.revoked_at is null and (key.expires_at is null or key.expires_at > now())';

const FIND_KEYS_BY_HASH = `
  select encode(key.key_hash, 'hex') as hash, key.id, key.name, key.scopes, key.expires_at, key.user_id, key.organization_id,
    organization.name as organization_name, organization.phone_region
  from api_keys key join organizations organization on organization.id = key.organization_id
  where key.key_hash = any($1::bytea[]) and key.revoked_at is null`;

const FIND_SCOPES = `
  select id, scopes from api_keys key where id = any($1::uuid[]) and ${IS_VALID_KEY}`;

const DELETE_ORGANIZATION = `
  with deleted_keys as (delete from api_keys where organization_id = $1)
  delete from organizations where id = $1`;

const FIND_DEFAULT_REGION = `
  select pg_get_expr(adbin, adrelid) as expression
  from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
  where adrelid = 'organizations'::regclass and attname = 'phone_region'`;

const LAST_USED_PRECISION = '1 minute';

interface KeyLookup extends BatchItem {
  readonly hash: Buffer;
}

/** SQL of organizations and keys. It is not limited to one tenant, because the key determines the tenant. */
@Injectable()
export class AuthRepository {
  private readonly lookupsByHash = new BatchQueue<KeyLookup, ApiKeyRecord | undefined>(
    { concurrency: 2, maxItems: 64, allowsEqualIds: true },
    async (take) => {
      const lookups = take();
      type Row = ApiKeyRecord & { hash: string };
      const hashes = lookups.map(({ hash }) => hash);
      const keys = await this.query<Row>('keys-by-hash', FIND_KEYS_BY_HASH, [hashes]);
      const byHash = new Map(keys.map(({ hash, ...key }) => [hash, key]));
      return lookups.map(({ id }) => byHash.get(id));
    },
  );

  constructor(
    @InjectRepository(Organization, ADMINISTRATION)
    private readonly organizations: Repository<Organization>,
    @InjectRepository(ApiKey, ADMINISTRATION) private readonly keys: Repository<ApiKey>,
    private readonly lookups: SharedLookups,
  ) {}

  /** @throws ApiError `query_failed` */
  findKeyByHash(hash: Buffer): Promise<ApiKeyRecord | undefined> {
    return this.lookupsByHash.add({ id: hash.toString('hex'), hash });
  }

  /**
   * The scopes of the keys by their ids, without keys that are revoked or expired.
   * @throws ApiError `query_failed`
   */
  async findScopes(ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    type Row = Pick<ApiKey, 'id' | 'scopes'>;
    const keys = await this.query<Row>('scopes', FIND_SCOPES, [ids]);
    return new Map(keys.map(({ id, scopes }) => [id, scopes]));
  }

  /** Stores the time of the last use of a key, at most once a minute for each key. */
  async updateLastUsed(keyId: string): Promise<void> {
    await this.keys
      .createQueryBuilder()
      .update()
      .set({ last_used_at: () => 'now()' })
      .where('id = :keyId', { keyId })
      .andWhere(
        `(last_used_at is null or last_used_at < now() - interval '${LAST_USED_PRECISION}')`,
      )
      .execute();
  }

  /**
   * @param phone_region the default of the column applies if it is undefined
   * @returns the phone region of the organization
   */
  async insertOrganization(
    organization: Pick<Organization, 'id' | 'name'> & { phone_region: string | undefined },
  ): Promise<string> {
    const result = await this.organizations
      .createQueryBuilder()
      .insert()
      .values(organization)
      .returning('phone_region')
      .execute();
    return (result.raw as { phone_region: string }[])[0]?.phone_region ?? '';
  }

  /** @returns whether the organization exists */
  async setPhoneRegion(id: string, region: string): Promise<boolean> {
    const { affected } = await this.organizations.update({ id }, { phone_region: region });
    return affected === 1;
  }

  /**
   * Changes the default of the column for new organizations.
   * @param region ISO 3166-1 alpha-2
   */
  async setDefaultPhoneRegion(region: string): Promise<void> {
    const [known] = await this.organizations.query<{ expression: string }[]>(FIND_DEFAULT_REGION);
    if (known?.expression.startsWith(`'${region}'`)) return;
    await this.organizations.query(
      `alter table organizations alter column phone_region set default '${region}'`,
    );
  }

  listOrganizations(): Promise<Organization[]> {
    return this.organizations.find({ order: { created_at: 'asc', id: 'asc' } });
  }

  /** @throws ApiError `query_failed` */
  async findOrganization(id: string): Promise<Organization | null> {
    try {
      return await this.organizations.findOneBy({ id });
    } catch (error) {
      throw translateDriverError(error, 'query_failed');
    }
  }

  async insertKey(key: Omit<ApiKey, 'created_at' | 'last_used_at' | 'revoked_at'>): Promise<void> {
    await this.keys.insert(key);
  }

  listKeys(organizationId: string): Promise<ApiKey[]> {
    return this.keys.find({
      where: { organization_id: organizationId },
      order: { created_at: 'asc', id: 'asc' },
    });
  }

  findKey(id: string): Promise<ApiKey | null> {
    return this.keys.findOneBy({ id });
  }

  /** Revokes a key. The time of an earlier revocation is kept. */
  async revoke(id: string): Promise<ApiKey | null> {
    await this.keys.update({ id, revoked_at: IsNull() }, { revoked_at: () => 'now()' });
    return this.findKey(id);
  }

  /**
   * Revokes all keys of an organization.
   * @returns whether a key was valid
   */
  async revokeAll(organizationId: string): Promise<boolean> {
    const notRevoked = { organization_id: organizationId, revoked_at: IsNull() };
    const { affected } = await this.keys.update(notRevoked, { revoked_at: () => 'now()' });
    return affected !== 0;
  }

  /**
   * Removes an organization with its keys.
   * @returns false if the organization has records, or got a key meanwhile
   */
  async deleteOrganization(id: string): Promise<boolean> {
    try {
      await this.organizations.query(DELETE_ORGANIZATION, [id]);
      return true;
    } catch (error) {
      if (isForeignKeyViolation(error)) return false;
      throw error;
    }
  }

  /** Moves the expiry of a key to a time, unless it expires earlier. */
  async expireNoLaterThan(id: string, expiresAt: Date): Promise<void> {
    await this.keys
      .createQueryBuilder()
      .update()
      .set({ expires_at: () => 'least(expires_at, :expiresAt)' })
      .where('id = :id', { id, expiresAt })
      .execute();
  }

  private async query<Row>(name: string, text: string, values: readonly unknown[]): Promise<Row[]> {
    try {
      return await this.lookups.find<Row>({ name, text, values });
    } catch (error) {
      throw translateDriverError(error, 'query_failed');
    }
  }
}
