import type { OrganizationColumns } from '../../platform/data/call.js';

/** An event as it is stored. */
export interface StoredEvent {
  /** Microseconds since 1970, unique over all organizations. */
  readonly position: number;
  readonly organization_id: string;
  readonly type: string;
  readonly record_id: string;
  /** The record as JSON. */
  readonly record: string;
  readonly changed: readonly string[];
  readonly key_id: string | null;
  /** The name of the key, in reads of its organization. */
  readonly key_name?: string | null;
  readonly channel: string | null;
  readonly request_id: string | null;
  readonly grant_id: string | null;
  readonly client_id: string | null;
  readonly created_at: Date;
  /** Of events that time causes: whether the lead may be contacted. */
  readonly contactable: boolean | null;
  readonly remind_before_minutes: number | null;
  /** The trace of the change. It is not part of the event that readers see. */
  readonly traceparent: string | null;
}

/** A stored event with the organization that it belongs to. */
export type EventOfOrganization = StoredEvent & OrganizationColumns;

/** The SELECT list of a `StoredEvent`. Positions are exact as numbers until the year 2255. */
export const EVENT_COLUMNS = `position::float8 as position, organization_id, type, record_id,
  record::text as record, changed, key_id, channel, request_id, grant_id, client_id,
  events.created_at, contactable, events.remind_before_minutes, events.traceparent`;
