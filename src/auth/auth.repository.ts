import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsNull, type Repository } from 'typeorm';
import { translateDriverError } from '../database/driver-error.js';
import { SharedLookups } from '../database/shared-lookups.js';
import { ApiKey } from './api-key.entity.js';
import { Organization } from './organization.entity.js';

/** A key that is not revoked, with its organization. */
export interface LiveKey extends Pick<ApiKey, 'id' | 'name' | 'scopes' | 'expires_at' | 'user_id'> {
  readonly organization_id: string;
  readonly organization_name: string;
  readonly phone_region: string;
}

const FIND_LIVE_KEY = `
  select key.id, key.name, key.scopes, key.expires_at, key.user_id, key.organization_id,
    organization.name as organization_name, organization.phone_region
  from api_keys key join organizations organization on organization.id = key.organization_id
  where key.key_hash = $1 and key.revoked_at is null`;

const FIND_SCOPES = `
  select id, scopes from api_keys
  where id = any($1::uuid[]) and revoked_at is null and (expires_at is null or expires_at > now())`;

const LAST_USED_PRECISION = '1 minute';

/**
 * Organizations and keys: the one place that looks across organizations, because a key must be
 * found before its organization is known.
 */
@Injectable()
export class AuthRepository {
  constructor(
    @InjectRepository(Organization) private readonly organizations: Repository<Organization>,
    @InjectRepository(ApiKey) private readonly keys: Repository<ApiKey>,
    private readonly lookups: SharedLookups,
  ) {}

  /** @throws ApiError `query_failed` */
  async findLiveKey(hash: Buffer): Promise<LiveKey | undefined> {
    const [key] = await this.lookUp<LiveKey>('live-key', FIND_LIVE_KEY, [hash]);
    return key;
  }

  /**
   * The scopes of those of these keys that are valid at this moment, by their ids.
   * @throws ApiError `query_failed`
   */
  async findScopes(ids: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    type Row = Pick<ApiKey, 'id' | 'scopes'>;
    const keys = await this.lookUp<Row>('scopes', FIND_SCOPES, [ids]);
    return new Map(keys.map(({ id, scopes }) => [id, scopes]));
  }

  /** Notes that a key was used; at most one write a minute and key. */
  async touch(keyId: string): Promise<void> {
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

  async insertOrganization(organization: Omit<Organization, 'created_at'>): Promise<void> {
    await this.organizations.insert(organization);
  }

  listOrganizations(): Promise<Organization[]> {
    return this.organizations.find({ order: { created_at: 'asc', id: 'asc' } });
  }

  findOrganization(id: string): Promise<Organization | null> {
    return this.organizations.findOneBy({ id });
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

  /** Revokes a key now; a key that is revoked already keeps its time. */
  async revoke(id: string): Promise<ApiKey | null> {
    await this.keys.update({ id, revoked_at: IsNull() }, { revoked_at: () => 'now()' });
    return this.findKey(id);
  }

  /** Moves the end of a key's life, never further away than it is. */
  async expireBy(id: string, expiresAt: Date): Promise<void> {
    await this.keys
      .createQueryBuilder()
      .update()
      .set({ expires_at: () => 'least(expires_at, :expiresAt)' })
      .where('id = :id', { id, expiresAt })
      .execute();
  }

  private async lookUp<Row>(
    name: string,
    text: string,
    values: readonly unknown[],
  ): Promise<Row[]> {
    try {
      return await this.lookups.find<Row>({ name, text, values });
    } catch (error) {
      throw translateDriverError(error, 'query_failed');
    }
  }
}
