/** SQL of the values of an event, by the columns of the outbox. */
export interface EventSql {
  readonly organization_id: string;
  readonly record_id: string;
  /** The record after the change, as `json`. */
  readonly record: string;
  readonly type: string;
  /** The names of the changed fields. */
  readonly changed: string;
  /** The instance of Latitude that writes it. */
  readonly origin?: string;
  /** Who changed the record. */
  readonly key_id?: string;
  readonly channel?: string;
  readonly request_id?: string;
  readonly grant_id?: string;
  readonly client_id?: string;
  /** The trace of the change. */
  readonly traceparent?: string;
  /** Whether the lead may be contacted, if the event says so. */
  readonly contactable?: string;
  /** How many minutes before the start the event of an appointment is due. */
  readonly remind_before_minutes?: string;
}

/**
 * SQL that writes events, in the statement that changes the records. The module of events publishes them after
 * the commit.
 * @param from the source of the values, with a row for each event
 */
export function insertEvents(event: EventSql, from: string): string {
  const columns = Object.keys(event).join(', ');
  return `insert into event_outbox (${columns}) select ${Object.values(event).join(', ')} from ${from}`;
}
