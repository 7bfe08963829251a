import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import { Settings } from '../../platform/config/settings.js';
import { ApiError, validationError } from '../../platform/errors/api-error.js';
import { codePointLength, isWellFormedText, trimText } from '../../platform/fields/kinds/text.js';
import { displayPrefix, generateKey, hashKey } from '../../platform/access/api-key-format.js';
import type { ApiKey } from './api-key.entity.js';
import { AuthRepository } from './auth.repository.js';
import type { Organization } from './organization.entity.js';
import type { Scope } from '../../platform/access/scopes.js';

export interface NewKey {
  organizationId: string;
  name: string;
  scopes: readonly Scope[];
  expiresAt?: Date | null;
  /** The user that is stored as the author of records that this key creates. */
  userId?: string | null;
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
 * Creates and lists organizations; creates, lists, rotates and revokes their keys (docs/contract/keys-and-scopes.md#api-keys).
 */
@Injectable()
export class KeysService {
  constructor(
    private readonly repository: AuthRepository,
    private readonly settings: Settings,
  ) {}

  /**
   * @param phoneRegion ISO 3166-1 alpha-2; by default the setting of the server that started last
   * @throws ApiError `validation_error` for an empty name
   */
  async createOrganization(
    name: string,
    phoneRegion?: string,
  ): Promise<{ id: string; name: string; phone_region: string }> {
    const organization = { id: uuidv7(), name: requireName(name) };
    const phone_region = await this.repository.insertOrganization({
      ...organization,
      phone_region: phoneRegion,
    });
    return { ...organization, phone_region };
  }

  /**
   * Changes the region of phone numbers without a country code. Servers use it for new numbers within a
   * second. `ContactIdentityService` normalizes the stored ones again.
   * @throws ApiError `not_found`
   */
  async setPhoneRegion(id: string, region: string): Promise<void> {
    if (!(await this.repository.setPhoneRegion(id, region))) throw organizationNotFound();
  }

  /** Stores the setting of this server as the default for new organizations, also of commands. */
  async setDefaultPhoneRegion(): Promise<void> {
    await this.repository.setDefaultPhoneRegion(this.settings.defaultPhoneRegion);
  }

  /** @throws ApiError `not_found` */
  async getOrganization(id: string): Promise<Organization> {
    const organization = await this.repository.findOrganization(id);
    if (!organization) throw organizationNotFound();
    return organization;
  }

  listOrganizations() {
    return this.repository.listOrganizations();
  }

  /** @throws ApiError `not_found` for an unknown organization */
  async createKey(request: NewKey): Promise<IssuedKey> {
    await this.getOrganization(request.organizationId);
    const key = generateKey();
    const record = {
      id: uuidv7(),
      organization_id: request.organizationId,
      name: requireName(request.name),
      scopes: [...request.scopes].sort(),
      expires_at: request.expiresAt ?? null,
    };
    await this.repository.insertKey({
      ...record,
      key_hash: hashKey(key),
      key_start: displayPrefix(key),
      user_id: request.userId ?? null,
    });
    return { ...record, key };
  }

  /** @throws ApiError `not_found` for an unknown organization */
  async listKeys(organizationId: string): Promise<ApiKey[]> {
    await this.getOrganization(organizationId);
    return this.repository.listKeys(organizationId);
  }

  /**
   * Revokes a key. Every instance refuses it within a second.
   * @throws ApiError `not_found`
   */
  async revoke(id: string): Promise<{ id: string; revoked_at: Date | null }> {
    const key = await this.repository.revoke(id);
    if (!key) throw new ApiError('not_found', { message: 'There is no such key.' });
    return { id: key.id, revoked_at: key.revoked_at };
  }

  /**
   * Issues a key with the name, scopes and lifetime of an existing key, which expires after `overlapMs`.
   * @throws ApiError `not_found` for a key that is unknown, revoked or expired
   */
  async rotate(id: string, overlapMs: number) {
    const old = await this.repository.findKey(id);
    if (!old) throw new ApiError('not_found', { message: 'There is no such key.' });
    if (old.revoked_at || (old.expires_at && old.expires_at.getTime() <= Date.now())) {
      throw new ApiError('not_found', {
        message: 'The key is revoked or has expired: create a new one.',
      });
    }
    const issued = await this.createKey({
      organizationId: old.organization_id,
      name: old.name,
      scopes: old.scopes as Scope[],
      expiresAt: old.expires_at && later(old.expires_at.getTime() - old.created_at.getTime()),
      userId: old.user_id,
    });
    await this.repository.expireNoLaterThan(id, later(overlapMs));
    const replaced = await this.repository.findKey(id);
    return { ...issued, replaces: id, old_expires_at: replaced?.expires_at ?? null };
  }
}

function later(ms: number): Date {
  return new Date(Date.now() + ms);
}

function organizationNotFound(): ApiError {
  return new ApiError('not_found', { message: 'There is no such organization.' });
}

/** Maximum length of the name of an organization or a key, in code points. */
export const MAX_NAME_LENGTH = 200;

function requireName(name: string): string {
  const trimmed = trimText(name);
  if (trimmed === '' || codePointLength(trimmed) > MAX_NAME_LENGTH || !isWellFormedText(trimmed)) {
    throw validationError([
      { field: 'name', message: `must be 1 to ${MAX_NAME_LENGTH} characters` },
    ]);
  }
  return trimmed;
}
