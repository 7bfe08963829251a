import { Injectable } from '@nestjs/common';
import { RateLimits } from '../../platform/access/limits/rate-limits.js';
import type { Call } from '../../platform/data/call.js';
import { TenantTables } from '../../platform/data/records/tenant-tables.service.js';
import { KeysRepository } from './keys.repository.js';
import { KeysService } from './keys.service.js';
import type { LimitsDto } from './me.dto.js';
import type { OwnOrganizationDto } from './organization.dto.js';
import { RecordTotals } from './record-totals.repository.js';

/** Describes the organization of a key. */
@Injectable()
export class OrganizationService {
  constructor(
    private readonly service: KeysService,
    private readonly keys: KeysRepository,
    private readonly totals: RecordTotals,
    private readonly tables: TenantTables,
    private readonly rateLimits: RateLimits,
  ) {}

  /** @throws ApiError `not_found`, `query_failed` */
  async describe(call: Call): Promise<OwnOrganizationDto> {
    const { scopes } = call.actor;
    const counted = this.tables.all.filter((table) => table.counted !== undefined);
    const readable = counted.filter(({ name, events }) => {
      return scopes.has(events?.scope ?? `${name}:read`);
    });
    const [{ id, name, phone_region, created_at }, totals, keys] = await Promise.all([
      this.service.getOrganization(call.tenant.id),
      this.totals.ofTables(
        call,
        readable.map((table) => table.name),
      ),
      scopes.has('keys:read') ? this.keys.countValid(call) : null,
    ]);
    const ofTables = counted.map((table) => [table.name, totals[table.name] ?? null] as const);
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
