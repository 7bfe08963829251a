import { Injectable } from '@nestjs/common';
import { RateLimits } from '../../platform/access/limits/rate-limits.js';
import type { Call } from '../../platform/data/call.js';
import { TenantTables } from '../../platform/data/records/tenant-tables.service.js';
import { KeysService } from './keys.service.js';
import type { LimitsDto } from './me.dto.js';
import type { OwnOrganizationDto } from './organization.dto.js';
import { RecordTotals } from './record-totals.repository.js';

/** Describes the organization of a key. */
@Injectable()
export class OrganizationService {
  constructor(
    private readonly keys: KeysService,
    private readonly totals: RecordTotals,
    private readonly tables: TenantTables,
    private readonly rateLimits: RateLimits,
  ) {}

  /** @throws ApiError `not_found`, `query_failed` */
  async describe(call: Call): Promise<OwnOrganizationDto> {
    const { scopes } = call.actor;
    const counted = this.tables.all.filter((table) => table.counted !== undefined);
    const kinds = counted.map(({ name, events }) => {
      return { name, isReadable: scopes.has(events?.scope ?? `${name}:read`) };
    });
    const readable = kinds.filter(({ isReadable }) => isReadable).map(({ name }) => name);
    const [{ id, name, phone_region, created_at }, totals, keys] = await Promise.all([
      this.keys.getOrganization(call.tenant.id),
      this.totals.ofTables(call, readable),
      scopes.has('keys:read') ? this.totals.ofKeys(call) : null,
    ]);
    const counts = kinds.map((kind) => [kind.name, totals[kind.name] ?? null] as const);
    const limits = this.limitsOf(call);
    return {
      id,
      name,
      phone_region,
      created_at,
      counts: { ...Object.fromEntries(counts), keys },
      limits,
    };
  }

  /** The rate limits of the key. */
  limitsOf({ actor }: Call): LimitsDto {
    return {
      reads_per_minute: this.rateLimits.limitOf('reads', actor).limit,
      writes_per_minute: this.rateLimits.limitOf('writes', actor).limit,
    };
  }
}
