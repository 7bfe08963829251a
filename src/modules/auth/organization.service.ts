import { Injectable } from '@nestjs/common';
import { RateLimits } from '../../platform/access/limits/rate-limits.js';
import type { Call } from '../../platform/data/call.js';
import type { TenantTable } from '../../platform/data/records/tenant-entity.js';
import { TenantTables } from '../../platform/data/records/tenant-tables.service.js';
import { orNotFound } from '../../platform/errors/or-not-found.js';
import { AuthRepository } from './auth.repository.js';
import { KeysRepository } from './keys.repository.js';
import type { LimitsDto } from './me.dto.js';
import type { OwnOrganizationDto } from './organization.dto.js';

/** Describes the organization of a key. */
@Injectable()
export class OrganizationService {
  constructor(
    private readonly repository: AuthRepository,
    private readonly keys: KeysRepository,
    private readonly tables: TenantTables,
    private readonly rateLimits: RateLimits,
  ) {}

  /** @throws ApiError `not_found`, `query_failed` */
  async describe(call: Call): Promise<OwnOrganizationDto> {
    const { scopes } = call.actor;
    const counted = this.tables.all.filter((table) => table.counted !== undefined);
    const isReadable = ({ name, events }: TenantTable) =>
      scopes.has(events?.scope ?? `${name}:read`);
    const names = counted.map((table) => table.name);
    const [organization, totals, keys] = await Promise.all([
      this.repository.findOrganization(call.tenant.id),
      this.repository.countRecords(call, names),
      scopes.has('keys:read') ? this.keys.countValid(call) : null,
    ]);
    const { id, name, phone_region, created_at } = orNotFound(organization, 'organization');
    const ofTables = counted.map((table) => {
      return [table.name, isReadable(table) ? (totals.get(table.name) ?? 0) : null] as const;
    });
    const counts = { ...Object.fromEntries(ofTables), keys };
    return { id, name, phone_region, created_at, counts, limits: this.limitsOf(call) };
  }

  /** The rate limits of the key. */
  limitsOf({ actor }: Call): LimitsDto {
    return {
      reads_per_minute: this.rateLimits.limitOf('reads', actor).limit,
      writes_per_minute: this.rateLimits.limitOf('writes', actor).limit,
    };
  }
}
