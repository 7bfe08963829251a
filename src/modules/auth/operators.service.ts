import { Injectable } from '@nestjs/common';
import { v7 as uuidv7 } from 'uuid';
import {
  displayPrefix,
  generateOperatorKey,
  hashKey,
} from '../../platform/access/api-key-format.js';
import { ORDINARY_SCOPES } from '../../platform/access/scopes.js';
import { AuditLog } from '../../platform/data/audit/audit-log.js';
import type { Call, TenantCall } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import type { ListQuery } from '../../platform/data/lists/list-query.js';
import type { Page } from '../../platform/data/lists/page.js';
import { type Stored, assertPrecondition } from '../../platform/data/records/stored-record.js';
import { changedFields } from '../../platform/fields/changes.js';
import { ApiError } from '../../platform/errors/api-error.js';
import { orNotFound } from '../../platform/errors/or-not-found.js';
import type { ApiKeyDto, ApiKeyWithSecretDto, UpdateKeyLimitsDto } from './key.dto.js';
import { ApiKeysService } from './api-keys.service.js';
import { assertFuture, endOf, later, lifetimeUntil } from './key-rules.js';
import { requireName } from './require-name.js';
import { type OperatorKey, OperatorsRepository } from './operators.repository.js';
import { OrganizationService } from './organization.service.js';
import { OrganizationsRepository } from './organizations.repository.js';
import type {
  CreateOrganizationDto,
  FirstKeyDto,
  OrganizationDto,
  UpdateOrganizationDto,
} from './organization.dto.js';

/** A new key of an operator, which cannot be read later. */
export type IssuedOperatorKey = ReturnType<typeof newKey>['issued'];

/**
 * Operators create organizations and their first keys, and read no records (docs/contract/keys-and-scopes.md#operator-keys).
 * Commands manage their keys. The tenant of a call over REST is the operator.
 */
@Injectable()
export class OperatorsService {
  constructor(
    private readonly repository: OperatorsRepository,
    private readonly keys: ApiKeysService,
    private readonly organizations: OrganizationService,
    private readonly organizationRows: OrganizationsRepository,
    private readonly database: TenantDatabase,
    private readonly audit: AuditLog,
  ) {}

  /** @throws ApiError `validation_error` for an empty name, `create_failed` */
  async createKey(name: string, expiresAt: Date | null): Promise<IssuedOperatorKey> {
    const { issued, row } = newKey(requireName(name), expiresAt);
    await this.repository.insertKey(row);
    return issued;
  }

  /** @throws ApiError `query_failed` */
  listKeys(): Promise<OperatorKey[]> {
    return this.repository.listKeys();
  }

  /**
   * Issues another key of an operator, with the same name and lifetime. The old one ends after `overlapMs`.
   * @throws ApiError `not_found` for a key that is unknown, revoked or expired; `create_failed`
   */
  async rotateKey(
    id: string,
    overlapMs: number,
  ): Promise<IssuedOperatorKey & { replaces: string }> {
    const old = orNotFound(await this.repository.findKey(id), 'operator key');
    const { issued, row } = newKey(old.name, endOf(old.lifetime_ms), old);
    if (!(await this.repository.insertKey(row, { id, end: later(overlapMs) }))) {
      const message = 'The key is revoked or has expired: create a new operator.';
      throw new ApiError('not_found', { message });
    }
    return { ...issued, replaces: id };
  }

  /**
   * Revokes a key. Every instance refuses it within a second.
   * @throws ApiError `not_found`, `create_failed`
   */
  async revokeKey(id: string): Promise<Pick<OperatorKey, 'id' | 'revoked_at'>> {
    return orNotFound(await this.repository.revokeKey(id), 'operator key');
  }

  /**
   * The organizations that the operator has created.
   * @throws ApiError `query_failed`
   */
  list(call: Call, query: ListQuery): Promise<Page<OrganizationDto>> {
    return this.repository.page(call, query);
  }

  /** @throws ApiError `not_found`, `query_failed` */
  async get(call: TenantCall, id: string): Promise<Stored<OrganizationDto>> {
    return orNotFound(await this.repository.find(call, id), 'organization');
  }

  /** @throws ApiError `validation_error`, `create_failed` */
  async create(call: Call, input: CreateOrganizationDto): Promise<Stored<OrganizationDto>> {
    const fields = await this.organizations.withKnownTimeZone(input);
    return this.database.transaction(call, async (inner) => {
      const { id } = await this.organizationRows.insertOf(inner, { ...fields, id: uuidv7() });
      await this.audit.add(inOrganization(inner, id), ['organization.created', id]);
      return this.get(inner, id);
    });
  }

  /**
   * Changes an organization that the operator has created. A suspended one has no access within a second, until it is resumed.
   * @throws ApiError `not_found`, `validation_error`, `precondition_failed`, `create_failed`
   */
  async update(
    call: Call,
    id: string,
    input: UpdateOrganizationDto,
  ): Promise<Stored<OrganizationDto>> {
    const changes = await this.organizations.withKnownTimeZone(input);
    return this.database.transaction(call, async (inner) => {
      await this.repository.lock(inner, id);
      const stored = await this.get(inner, id);
      assertPrecondition(inner, stored);
      if (!changedFields(stored.value(), changes)) return stored;
      await this.organizations.changeIn(inOrganization(inner, id), changes);
      return this.get(inner, id);
    });
  }

  /**
   * Replaces the first key of an organization by another one with the same fields, while no key of the organization was used.
   * @throws ApiError `not_found`, `first_key_exists`, `create_failed`
   */
  async replaceFirstKey(call: Call, id: string): Promise<Stored<ApiKeyWithSecretDto>> {
    await this.get(call, id);
    return this.keys.replaceFirst(inOrganization(call, id));
  }

  /**
   * Creates the first key of an organization that the operator has created. One of several requests at the same time
   * creates it.
   * @throws ApiError `not_found`, `first_key_exists`, `validation_error`, `create_failed`
   */
  async createFirstKey(
    call: Call,
    id: string,
    { name, scopes, expires_at = null, user_id = null, ...limits }: FirstKeyDto,
  ): Promise<Stored<ApiKeyWithSecretDto>> {
    if (expires_at) assertFuture(expires_at);
    this.keys.assertLimits(limits);
    await this.get(call, id);
    const fields = { name, scopes: scopes ?? ORDINARY_SCOPES, expires_at, user_id, ...limits };
    return this.keys.createRoot(inOrganization(call, id), fields, true);
  }

  /**
   * The keys of an organization that the operator has created.
   * @throws ApiError `not_found`, `query_failed`
   */
  async listKeysOf(call: Call, id: string, query: ListQuery): Promise<Page<ApiKeyDto>> {
    await this.get(call, id);
    return this.keys.list(inOrganization(call, id), query);
  }

  /**
   * Sets limits of a key of an organization that the operator has created.
   * @throws ApiError `not_found`, `validation_error`, `precondition_failed`, `create_failed`
   */
  async setLimits(
    call: Call,
    { id, keyId }: { readonly id: string; readonly keyId: string },
    limits: UpdateKeyLimitsDto,
  ): Promise<Stored<ApiKeyDto>> {
    this.keys.assertLimits(limits);
    await this.get(call, id);
    return this.keys.setLimits(inOrganization(call, id), keyId, limits);
  }
}

/** The call of an operator in one of its organizations, in the same transaction. */
function inOrganization<C extends TenantCall>(call: C, id: string): C {
  const { transaction, tenant } = call;
  const of = { tenant: { ...tenant, id } };
  return { ...call, ...of, ...(transaction && { transaction: transaction.of(id) }) };
}

/** @param old the key that it replaces; without one, it is the key of a new operator */
function newKey(
  name: string,
  expires_at: Date | null,
  old?: { readonly operator_id: string; readonly lifetime_ms: number },
) {
  const [id, key] = [uuidv7(), generateOperatorKey()];
  const fields = { id, operator_id: old?.operator_id ?? id, name, expires_at };
  const lifetime_ms = old?.lifetime_ms ?? lifetimeUntil(expires_at);
  const row = { ...fields, lifetime_ms, key_hash: hashKey(key), key_start: displayPrefix(key) };
  return { issued: { ...fields, key }, row };
}
