import { Injectable } from '@nestjs/common';
import type { InTransaction, TenantCall } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';

/** An erased lead. */
export interface Erasure {
  readonly organization_id: string;
  readonly lead_id: string;
  readonly erased_at: Date;
}

/** SQL of the ids of erased records. Nothing else is kept of them. */
@Injectable()
export class ErasuresRepository {
  constructor(private readonly database: TenantDatabase) {}

  /**
   * Stores an erasure.
   * @param leads the leads of the person
   * @param records all records of which copies were erased
   * @throws ApiError `create_failed`
   */
  async add(
    call: InTransaction,
    leads: readonly string[],
    records: readonly string[],
  ): Promise<void> {
    await call.transaction.query({
      text: `insert into erasures (organization_id, record_id, person_id, erased_at)
        select $1, record_id, case when record_id = any($2::uuid[]) then ($2::uuid[])[1] end, clock_timestamp()
        from unnest($3::uuid[]) record_id
        on conflict (organization_id, record_id) do update set erased_at = excluded.erased_at`,
      values: [call.tenant.id, leads, records],
    });
  }

  /**
   * The leads that were erased together with one, and this one.
   * @returns none if it was not erased
   * @throws ApiError `create_failed`, because it is part of a write
   */
  async findErased(call: TenantCall, leadId: string): Promise<string[]> {
    const rows = await this.database.readForWrite<{ id: string }>(call, {
      text: `select record_id as id from erasures where organization_id = $1 and person_id = (
          select person_id from erasures where organization_id = $1 and record_id = $2)`,
      values: [call.tenant.id, leadId],
    });
    return rows.map(({ id }) => id);
  }

  /**
   * The erased leads of an organization, in the order of their erasures.
   * @throws ApiError `query_failed`
   */
  list(call: TenantCall): Promise<Erasure[]> {
    return this.database.read<Erasure>(call, {
      text: `select organization_id, record_id as lead_id, erased_at from erasures
        where organization_id = $1 and person_id is not null order by erased_at, record_id`,
      values: [call.tenant.id],
    });
  }
}
