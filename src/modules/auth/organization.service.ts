import { Injectable } from '@nestjs/common';
import { RateLimits } from '../../platform/access/limits/rate-limits.js';
import { AuditLog } from '../../platform/data/audit/audit-log.js';
import type { AuditType } from '../../platform/data/audit/audit-types.js';
import type { Call, InTransaction, TenantCall } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { assertPrecondition } from '../../platform/data/records/stored-record.js';
import type { TenantTable } from '../../platform/data/records/tenant-entity.js';
import { TenantTables } from '../../platform/data/records/tenant-tables.service.js';
import { validationError } from '../../platform/errors/api-error.js';
import { orNotFound } from '../../platform/errors/or-not-found.js';
import { changedFields } from '../../platform/fields/changes.js';
import { TIME_ZONE_PROBLEM } from '../../platform/fields/kinds/time-zone.js';
import { KeysRepository } from './keys.repository.js';
import { type OrganizationChanges, OrganizationsRepository } from './organizations.repository.js';
import { requireName } from './require-name.js';
import type { LimitsDto } from './me.dto.js';
import type { Organization } from './organization.entity.js';
import type { OwnOrganizationDto, UpdateOwnOrganizationDto } from './organization.dto.js';

/** The organization of a key. */
@Injectable()
export class OrganizationService {
  constructor(
    private readonly repository: OrganizationsRepository,
    private readonly keys: KeysRepository,
    private readonly tables: TenantTables,
    private readonly database: TenantDatabase,
    private readonly rateLimits: RateLimits,
    private readonly audit: AuditLog,
  ) {}

  /** @throws ApiError `not_found`, `query_failed` */
  async describe(call: Call): Promise<OwnOrganizationDto> {
    const organization = await this.repository.find(call);
    return this.describeAs(call, orNotFound(organization, 'organization'));
  }

  /**
   * Changes what a key may change of its organization. Calls have the new values within a second.
   * @throws ApiError `validation_error`, `precondition_failed`, `create_failed`
   */
  async update(call: Call, input: UpdateOwnOrganizationDto): Promise<OwnOrganizationDto> {
    const wanted = await this.withKnownTimeZone(input);
    return this.database.transaction(call, async (inner) => {
      const organization = await this.repository.lock(inner);
      const stored = await this.describeAs(inner, orNotFound(organization, 'organization'));
      assertPrecondition(inner, stored);
      const changes = changedFields<UpdateOwnOrganizationDto>(stored, wanted);
      if (changes) await this.changeIn(inner, changes);
      return { ...stored, ...changes };
    });
  }

  /**
   * Changes an organization for a caller that is trusted to do so.
   * @throws ApiError `not_found`, `validation_error`, `create_failed`
   */
  async change(call: TenantCall, input: OrganizationChanges): Promise<Organization> {
    const changes = await this.withKnownTimeZone(input);
    const { name } = changes;
    const named = name === undefined ? changes : { ...changes, name: requireName(name) };
    return this.database.transaction(call, (inner) => this.changeIn(inner, named));
  }

  /**
   * Changes an organization in a transaction.
   * @throws ApiError `not_found`, `create_failed`
   */
  async changeIn(call: InTransaction, changes: OrganizationChanges): Promise<Organization> {
    const updated = await this.repository.update(call, changes);
    // The statement writes its event itself. The publisher looks for it after the commit.
    this.database.publishEvents(call);
    const { changed, ...organization } = orNotFound(updated, 'organization');
    const types = auditTypesOf(changed, organization);
    await this.audit.add(call, ...types.map((type) => [type, organization.id] as const));
    return organization;
  }

  /**
   * Replaces the name of a time zone by that which PostgreSQL knows.
   * @throws ApiError `validation_error`, `query_failed`
   */
  async withKnownTimeZone<T extends { readonly time_zone?: string }>(input: T): Promise<T> {
    if (input.time_zone === undefined) return input;
    const time_zone = await this.repository.findTimeZone(input.time_zone);
    if (time_zone !== undefined) return { ...input, time_zone };
    throw validationError([{ field: 'time_zone', message: TIME_ZONE_PROBLEM }]);
  }

  private async describeAs(call: Call, organization: Organization): Promise<OwnOrganizationDto> {
    const { scopes } = call.actor;
    const counted = this.tables.all.filter((table) => table.counted !== undefined);
    const isReadable = ({ name, events }: TenantTable) =>
      scopes.has(events?.scope ?? `${name}:read`);
    const names = counted.map((table) => table.name);
    const [totals, keys] = await Promise.all([
      this.repository.countRecords(call, names),
      scopes.has('keys:read') ? this.keys.countValid(call) : null,
    ]);
    const ofTables = counted.map((table) => {
      return [table.name, isReadable(table) ? (totals.get(table.name) ?? 0) : null] as const;
    });
    const counts = { ...Object.fromEntries(ofTables), keys };
    const { suspended: _, ...shown } = organization;
    return { ...shown, counts, limits: this.limitsOf(call) };
  }

  /** The rate limits of the key. */
  limitsOf({ actor }: Call): LimitsDto {
    return {
      reads_per_minute: this.rateLimits.limitOf('reads', actor).limit,
      writes_per_minute: this.rateLimits.limitOf('writes', actor).limit,
    };
  }
}

/** The types of the entries of a change. @param changed the names of the fields that have another value */
function auditTypesOf(changed: readonly string[], { suspended }: Organization): AuditType[] {
  const isOther = changed.some((name) => name !== 'suspended');
  const suspension = suspended ? 'organization.suspended' : 'organization.resumed';
  return [
    ...(changed.includes('suspended') ? ([suspension] as const) : []),
    ...(isOther ? (['organization.updated'] as const) : []),
  ];
}
