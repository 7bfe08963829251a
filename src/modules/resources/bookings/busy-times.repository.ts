import { Injectable } from '@nestjs/common';
import type { Call, InTransaction, TenantCall } from '../../../platform/data/call.js';
import { TenantDatabase } from '../../../platform/data/gateway/tenant-database.js';
import type { JsonRow, Row as Values } from '../../../platform/data/records/record-statements.js';
import { RecordPromise } from '../../../platform/data/records/stored-record.js';
import { TenantRepository } from '../../../platform/data/records/tenant-repository.js';
import type { Interval } from '../hours/free-time.js';
import { BusyTime } from './busy-time.entity.js';

/** What takes time of a resource, with its buffers. */
export interface BusyInterval extends Interval {
  readonly resource_id: string;
  /** When the appointment or hold itself begins. */
  readonly begins: number;
  /** The appointment; null for a hold. */
  readonly appointment_id: string | null;
}

/** What takes time of resources, by their ids, in its order. */
export type BusyTimes = ReadonlyMap<string, readonly BusyInterval[]>;

/** How many holds a key has, by the time of the database, by which they expire. */
interface CountedHolds {
  readonly holds: number;
  readonly now: Date;
}

/** A moment in milliseconds, as a number, because a window can have tens of thousands of rows. */
const millisecondsOf = (column: string) => `round(date_part('epoch', ${column}) * 1000)`;

const WITHIN = `select resource_id, ${millisecondsOf('starts_at')} as start, ${millisecondsOf('ends_at')} as "end",
    ${millisecondsOf('start_time')} as begins, case when key_id is null then id end as appointment_id
  from busy_times
  where organization_id = $1 and resource_id = any($2::uuid[]) and ends_at > $3 and starts_at < $4
    and expires_at > clock_timestamp()
  order by starts_at`;

/** The hold `$2`, unless it has expired. */
const IS_HOLD = `organization_id = $1 and id = $2 and key_id is not null and expires_at > clock_timestamp()`;

const LOCK_HOLDS = `select pg_advisory_xact_lock(hashtextextended('holds ' || $1, 0))`;

/** SQL of the time that appointments and holds take. */
@Injectable()
export class BusyTimesRepository extends TenantRepository<BusyTime> {
  constructor(database: TenantDatabase) {
    super(database, BusyTime);
  }

  /**
   * What takes time of resources in a window. Rows of one resource do not overlap, so that those of the window follow each
   * other in the index.
   * @throws ApiError `query_failed`
   */
  async within(
    call: TenantCall,
    resourceIds: readonly string[],
    { start, end }: Interval,
  ): Promise<BusyTimes> {
    if (resourceIds.length === 0) return new Map();
    const byResource = new Map(resourceIds.map((id) => [id, [] as BusyInterval[]]));
    const rows = await this.database.read<BusyInterval>(call, {
      text: WITHIN,
      values: [call.tenant.id, resourceIds, new Date(start), new Date(end)],
      plan: 'custom',
    });
    for (const row of rows) byResource.get(row.resource_id)?.push(row);
    return byResource;
  }

  /**
   * A hold that has not expired.
   * @throws ApiError `query_failed`
   */
  findHold(call: Call, id: string): RecordPromise<BusyTime, undefined> {
    return RecordPromise.of<BusyTime, undefined>(async () => {
      const [row] = await this.database.read<JsonRow>(call, {
        text: `select id, row_to_json(hold)::text as json
          from (select ${this.columns.stored.jsonFromTable} from busy_times where ${IS_HOLD}) hold`,
        values: [call.tenant.id, id],
      });
      return row && this.storedOf(call, row);
    });
  }

  /**
   * Counts the holds of the key of the call that have not expired. Other transactions of the key that count them wait for the
   * end of this one.
   * @throws ApiError `create_failed`
   */
  async lockAndCountHolds(call: InTransaction<Call>): Promise<CountedHolds> {
    await call.transaction.query({ text: LOCK_HOLDS, values: [call.actor.key.id] });
    return this.countHolds(call);
  }

  /**
   * Counts the holds of the key of the call that have not expired.
   * @throws ApiError `query_failed`
   */
  async countHolds(call: Call): Promise<CountedHolds> {
    const rows = await this.database.read<CountedHolds>(call, {
      text: `select count(*)::int as holds, clock_timestamp() as now from busy_times
        where organization_id = $1 and key_id = $2 and expires_at > clock_timestamp() and expires_at < 'infinity'`,
      values: [call.tenant.id, call.actor.key.id],
      plan: 'custom',
    });
    return (rows as [CountedHolds])[0];
  }

  /**
   * @throws ApiError `create_failed`
   * @throws ExclusionViolation if the time is taken
   */
  insertHold(call: InTransaction<Call>, row: Values & { id: string }): RecordPromise<BusyTime> {
    return this.insertRow(call, row).orElse(() => {
      throw new Error('a hold was left out');
    });
  }

  /**
   * Deletes a hold that has not expired.
   * @returns whether it existed
   * @throws ApiError `create_failed`
   */
  async deleteHold(call: Call, id: string): Promise<boolean> {
    const rows = await this.database.write(call, {
      text: `delete from busy_times where ${IS_HOLD} returning id`,
      values: [call.tenant.id, id],
    });
    return rows.length > 0;
  }

  /**
   * The resources of holds, also of expired ones.
   * @throws ApiError `create_failed`
   */
  async resourcesOfHolds(call: InTransaction, ids: readonly string[]): Promise<string[]> {
    if (ids.length === 0) return [];
    const rows = await call.transaction.query<{ resource_id: string }>({
      text: `select distinct resource_id from busy_times where organization_id = $1 and id = any($2::uuid[])`,
      values: [call.tenant.id, ids],
    });
    return rows.map(({ resource_id }) => resource_id);
  }
}
