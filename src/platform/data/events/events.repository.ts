import { Injectable } from '@nestjs/common';
import type { InTransaction, TenantCall } from '../call.js';
import { TenantDatabase } from '../gateway/tenant-database.js';
import { EVENT_COLUMNS, type StoredEvent } from './stored-event.js';

/** The tables with events. The outbox comes first, because the publisher moves events to the other one. */
const TABLES = ['event_outbox', 'events'];

/** Which events to read. */
export interface EventSelection {
  /** Only events after this position. */
  readonly after: number;
  readonly types?: readonly string[];
  readonly recordId?: string;
  readonly limit: number;
}

/** Reads and removes the events of an organization. */
@Injectable()
export class EventsRepository {
  constructor(private readonly database: TenantDatabase) {}

  /**
   * Reads published events in their order.
   * @throws ApiError `query_failed`
   */
  read(
    call: TenantCall,
    { after, types, recordId, limit }: EventSelection,
  ): Promise<StoredEvent[]> {
    const conditions = ['organization_id = $1', 'position > $2'];
    const values: unknown[] = [call.tenant.id, after, limit];
    if (types) conditions.push(`type = any($${values.push(types)})`);
    if (recordId) conditions.push(`record_id = $${values.push(recordId)}`);
    return this.database.read<StoredEvent>(call, {
      text: `select ${EVENT_COLUMNS} from events where ${conditions.join(' and ')}
        order by events.position limit $3`,
      values,
      // PostgreSQL leaves out the partitions before the position only if it knows the position.
      plan: 'custom',
    });
  }

  /**
   * The position of the last event of an organization.
   * @returns undefined if there is none
   * @throws ApiError `query_failed`
   */
  async findLast(call: TenantCall): Promise<number | undefined> {
    const [row] = await this.database.read<{ last: number | null }>(call, {
      text: 'select max(position)::float8 as last from events where organization_id = $1',
      values: [call.tenant.id],
      plan: 'custom',
    });
    return row?.last ?? undefined;
  }

  /**
   * Reads the last events of a type, the newest first.
   * @throws ApiError `query_failed`
   */
  readLatest(call: TenantCall, type: string, limit: number): Promise<StoredEvent[]> {
    return this.database.read<StoredEvent>(call, {
      text: `select ${EVENT_COLUMNS} from events where organization_id = $1 and type = $2
        order by events.position desc limit $3`,
      values: [call.tenant.id, type, limit],
    });
  }

  /**
   * Finds which records have events after a position, and which of these types happened.
   * @throws ApiError `query_failed`
   */
  findChanged(
    call: TenantCall,
    after: number,
    recordIds: readonly string[],
    types: readonly string[],
  ): Promise<{ record_id: string; type: string }[]> {
    return this.database.read(call, {
      text: `select distinct record_id, type from events where organization_id = $1 and position > $2
        and (record_id = any($3::uuid[]) or type = any($4))`,
      values: [call.tenant.id, after, recordIds, types],
      plan: 'custom',
    });
  }

  /**
   * Removes the events of records.
   * @throws ApiError `create_failed`
   */
  async deleteForRecords(
    { transaction, tenant: { id } }: InTransaction,
    recordIds: readonly string[],
  ): Promise<void> {
    if (recordIds.length === 0) return;
    for (const table of TABLES) {
      await transaction.query({
        text: `delete from ${table} where organization_id = $1 and record_id = any($2::uuid[])`,
        values: [id, recordIds],
      });
    }
  }

  /**
   * Reads the published events of records in their order.
   * @throws ApiError `query_failed`
   */
  readOfRecords(call: TenantCall, recordIds: readonly string[]): Promise<StoredEvent[]> {
    return this.database.read<StoredEvent>(call, {
      text: `select ${EVENT_COLUMNS} from events where organization_id = $1 and record_id = any($2::uuid[])
        order by events.position`,
      values: [call.tenant.id, recordIds],
    });
  }

  /**
   * Removes all fields of the records of events, except their ids.
   * @throws ApiError `create_failed`
   */
  async eraseRecords(
    { transaction, tenant: { id } }: InTransaction,
    recordIds: readonly string[],
  ): Promise<void> {
    for (const table of TABLES) {
      await transaction.query({
        text: `update ${table} set record = json_build_object('id', record_id)
          where organization_id = $1 and record_id = any($2::uuid[])`,
        values: [id, recordIds],
      });
    }
  }
}
