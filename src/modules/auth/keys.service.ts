import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Settings } from '../../platform/config/settings.js';
import type { Confirmations, TenantCall } from '../../platform/data/call.js';
import type { Stored } from '../../platform/data/records/stored-record.js';
import { orNotFound } from '../../platform/errors/or-not-found.js';
import type { ApiKey } from './api-key.entity.js';
import { KeysRepository } from './keys.repository.js';
import type { ApiKeyDto, ApiKeyWithSecretDto } from './key.dto.js';
import type { WantedLimits } from './key-limits.js';
import { type OrganizationChanges, OrganizationsRepository } from './organizations.repository.js';
import { requireName } from './require-name.js';
import { ApiKeysService } from './api-keys.service.js';
import type { Organization } from './organization.entity.js';
import { OrganizationService } from './organization.service.js';
import type { Scope } from '../../platform/access/scopes.js';

export interface NewKey {
  organizationId: string;
  name: string;
  scopes: readonly Scope[];
  expiresAt?: Date | null;
  /** The user that is stored as the author of records that this key creates. */
  userId?: string | null;
  confirmations?: Confirmations;
  /** At most the setting `KEY_MAX_READS_PER_MINUTE`. Default: the limit of the settings, for both. */
  readsPerMinute?: number;
  writesPerMinute?: number;
}

/** A new key with its secret, which cannot be read later. */
export interface IssuedKey {
  id: string;
  organization_id: string;
  name: string;
  scopes: readonly string[];
  expires_at: Date | null;
  key: string;
}

/**
 * Organizations and their keys for commands and extensions, which act without a key
 * (docs/contract/keys-and-scopes.md#api-keys). `ApiKeysService` has the rules of keys, also for REST.
 */
@Injectable()
export class KeysService {
  constructor(
    private readonly repository: OrganizationsRepository,
    private readonly keyRows: KeysRepository,
    private readonly keys: ApiKeysService,
    private readonly organizations: OrganizationService,
    private readonly settings: Settings,
  ) {}

  /**
   * @param phoneRegion ISO 3166-1 alpha-2; by default the setting of the server that started last
   * @param timeZone a name that PostgreSQL and Node.js know; by default UTC
   * @throws ApiError `validation_error` for an empty name or an unknown time zone
   */
  async createOrganization(
    name: string,
    phoneRegion?: string,
    timeZone?: string,
  ): Promise<Pick<Organization, 'id' | 'name' | 'phone_region' | 'time_zone'>> {
    const fields = { name: requireName(name), phone_region: phoneRegion, time_zone: timeZone };
    const known = await this.organizations.withKnownTimeZone(fields);
    const stored = await this.repository.insert({ id: uuidv7(), ...known });
    const { id, phone_region, time_zone } = stored;
    return { id, name: stored.name, phone_region, time_zone };
  }

  /**
   * Changes an organization. Calls have the new values within a second. `ContactIdentityService` normalizes the phone numbers
   * again after a change of their region.
   * @throws ApiError `not_found`, `validation_error` for an unknown time zone, `create_failed`
   */
  updateOrganization(id: string, changes: OrganizationChanges): Promise<Organization> {
    return this.organizations.change(callOf(id), changes);
  }

  /** Stores the setting of this server as the default for new organizations, also of commands. */
  async setDefaultPhoneRegion(): Promise<void> {
    await this.repository.setDefaultPhoneRegion(this.settings.defaultPhoneRegion);
  }

  /** @throws ApiError `not_found` */
  async getOrganization(id: string): Promise<Organization> {
    return orNotFound(await this.repository.find(callOf(id)), 'organization');
  }

  listOrganizations() {
    return this.repository.list();
  }

  /** @throws ApiError `not_found` for an unknown organization, `validation_error`, `create_failed` */
  async createKey(request: NewKey): Promise<IssuedKey> {
    const { organizationId, name, expiresAt = null, userId = null, ...others } = request;
    const { scopes, confirmations, readsPerMinute, writesPerMinute } = others;
    const limits = { reads_per_minute: readsPerMinute, writes_per_minute: writesPerMinute };
    const owner = { expires_at: expiresAt, user_id: userId };
    const fields = { name: requireName(name), scopes, confirmations, ...owner, ...limits };
    return issuedKey(organizationId, await this.keys.createRoot(callOf(organizationId), fields));
  }

  /**
   * Replaces the first key of an organization, of which no key was used.
   * @throws ApiError `not_found`, `first_key_exists`, `create_failed`
   */
  async replaceFirst(organizationId: string): Promise<IssuedKey> {
    return issuedKey(organizationId, await this.keys.replaceFirst(callOf(organizationId)));
  }

  /** @throws ApiError `not_found` for an unknown organization */
  async listKeys(organization_id: string): Promise<(ApiKey & { organization_id: string })[]> {
    await this.getOrganization(organization_id);
    const keys = await this.keyRows.all(callOf(organization_id));
    return keys.map(({ id, ...key }) => ({ id, organization_id, ...key }));
  }

  /**
   * The call of maintenance in the organization of a key, for commands that have only its id.
   * @throws ApiError `not_found`
   */
  async callOfKey(id: string): Promise<TenantCall> {
    return callOf(orNotFound(await this.repository.findIdByKey(id), 'key'));
  }

  /**
   * Sets limits of a key. Those that are left out keep their values. Every instance applies them within a second.
   * @throws ApiError `not_found`, `validation_error`, `create_failed`
   */
  async setLimits(call: TenantCall, id: string, limits: WantedLimits): Promise<ApiKeyDto> {
    return (await this.keys.setLimits(call, id, limits)).value();
  }

  /**
   * Revokes a key and those that end with it. Every instance refuses them within a second.
   * @throws ApiError `not_found`, `create_failed`
   */
  revoke(call: TenantCall, id: string): Promise<{ id: string; revoked_at: Date }> {
    return this.keys.revoke(call, id);
  }

  /**
   * Issues a key with the name, scopes and lifetime of an existing key, which expires after `overlapMs`.
   * @throws ApiError `not_found` for a key that is unknown, revoked or expired; `create_failed`
   */
  async rotate(call: TenantCall, id: string, overlapMs: number) {
    const { key, oldExpiresAt } = await this.keys.rotate(call, id, overlapMs);
    return { ...issuedKey(call.tenant.id, key), replaces: id, old_expires_at: oldExpiresAt };
  }
}

function callOf(organizationId: string): TenantCall {
  return { tenant: { id: organizationId } };
}

function issuedKey(organization_id: string, issued: Stored<ApiKeyWithSecretDto>): IssuedKey {
  const { id, name, scopes, expires_at, key = '' } = issued.value();
  return { id, organization_id, name, scopes, expires_at, key };
}
