import { Injectable } from '@nestjs/common';
import type { TenantCall } from '../../platform/data/call.js';
import { TenantDatabase } from '../../platform/data/gateway/tenant-database.js';
import { EVENT_COLUMNS, type StoredEvent } from './stored-event.js';

/** SQL of a record of which only the id is left. Like all JSON of records it has no spaces, as that of `row_to_json`. */
export const ERASED_RECORD = `(select row_to_json(erased) from (select record_id as id) erased)`;

/** The events of records. The outbox comes first, because the publisher moves events to the other table. */
export const EVENTS_ABOUT_RECORDS = ['event_outbox', 'events'].map((name) => ({
  name,
  rows: 'record_id = any($2::uuid[])',
  erased: `record = ${ERASED_RECORD}`,
}));

/** SQL of the name of the key of an event. A text that is no id is one of an extension. */
const KEY_NAME = `(select name from api_keys where organization_id = $1
  and id = case when key_id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then key_id::uuid end) as key_name`;

/** Which events to read. */
export interface EventSelection {
  /** Only events after this position. Default: all. */
  readonly after?: number;
  readonly types?: readonly string[];
  readonly recordIds?: readonly string[];
  /** Default: `oldest`. */
  readonly first?: 'oldest' | 'newest';
  /** Default: no limit. */
  readonly limit?: number;
}

/** Reads and removes the events of an organization. */
@Injectable()
export class EventsRepository {
  constructor(private readonly database: TenantDatabase) {}

  /**
   * Reads published events.
   * @throws ApiError `query_failed`
   */
  read(
    call: TenantCall,
    { after = 0, types, recordIds, first = 'oldest', limit }: EventSelection,
  ): Promise<StoredEvent[]> {
    const conditions = ['organization_id = $1', 'position > $2'];
    const values: unknown[] = [call.tenant.id, after, limit];
    if (types) conditions.push(`type = any($${values.push(types)})`);
    if (recordIds) conditions.push(`record_id = any($${values.push(recordIds)}::uuid[])`);
    return this.database.read<StoredEvent>(call, {
      text: `select ${EVENT_COLUMNS}, ${KEY_NAME} from events where ${conditions.join(' and ')}
        order by events.position ${first === 'oldest' ? 'asc' : 'desc'} limit $3`,
      values,
      // PostgreSQL leaves out the partitions before the position only if it knows the position.
      plan: 'custom',
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
}
