import { Injectable } from '@nestjs/common';
import type { InTransaction, TenantCall } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';

/** The erasure of a lead. */
export interface Erasure {
  readonly organization_id: string;
  readonly lead_id: string;
  readonly erased_at: Date;
}

/**
 * Reads and writes the table `erasures`: the ids of records whose personal data was erased, and when. They are kept so that
 * an erasure can be repeated, such as after the restore of an older backup. `person_id` is the id of one of the leads of the
 * person, which is the same for all of them. It is null for records that are not leads, such as appointments.
 */
@Injectable()
export class ErasuresRepository {
  constructor(private readonly database: TenantDatabase) {}

  /**
   * Stores the erasure of a person. Records that were erased before, as when an erasure is repeated, get the new time.
   * @param leads the ids of the leads of the person
   * @param records the ids of these leads, of their appointments, which were removed, and of their tasks, whose texts
   * were emptied
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
   * The ids of all leads of the person whose lead this was, including this one.
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
