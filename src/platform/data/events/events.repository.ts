import { Injectable } from '@nestjs/common';
import type { TenantCall } from '../call.js';
import { TenantDatabase } from '../gateway/tenant-database.js';
import { EVENT_COLUMNS, type StoredEvent } from './stored-event.js';

/** The events of records. The outbox comes first, because the publisher moves events to the other table. */
export const EVENTS_ABOUT_RECORDS = ['event_outbox', 'events'].map((name) => ({
  name,
  rows: 'record_id = any($2::uuid[])',
  erased: `record = json_build_object('id', record_id)`,
}));

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
}
