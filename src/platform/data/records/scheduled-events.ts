import { type EventSql, insertEvents } from './event-outbox.js';
import { NOT_DELETED_BY_ID } from './record-sql.js';
import type { RecordColumns } from './stored-record.js';
import {
  deletesSoftly,
  eventTypeOf,
  type ScheduledEvent,
  type TenantTable,
} from './tenant-entity.js';

/** The moments of records at which events are due. */
export const SCHEDULED_EVENTS_OF_RECORDS = {
  name: 'scheduled_events',
  rows: 'record_id = any($2::uuid[])',
};

/** Moments that one statement claims, so that it holds locks for a short time. */
const BATCH = 500;

/** What a statement found. */
export interface WrittenEvents {
  /** Whether it claimed as many moments as it may, so that more can be due. */
  readonly isFull: boolean;
  readonly events: number;
}

/**
 * SQL that claims the due moments of a type of the organization `$1`, and writes their events.
 *
 * It locks each record before it reads it, so that an event has the record after all changes that were committed before it,
 * and follows their events. A record that is being changed is left for the next time: its writer may wait for a moment that
 * this statement has claimed. A moment whose record has changed so that the event is no longer due is claimed without one.
 */
export function writeScheduledEvents(
  table: TenantTable,
  { jsonFromTable, storedNames }: Pick<RecordColumns<never>, 'jsonFromTable' | 'storedNames'>,
  change: string,
  instance: number,
): string {
  const { name, events } = table;
  const type = `'${eventTypeOf(table, change)}'`;
  const { isDue = 'false', values = {} } = events?.scheduled?.[change] ?? {};
  const notDeleted = deletesSoftly(table) ? NOT_DELETED_BY_ID : 'true';
  const more = Object.entries(values).map(([column, sql]) => `, (${sql}) as "new ${column}"`);
  const ofEvents = Object.keys(values).map((column) => [column, `"new ${column}"`]);
  const stored = storedNames.map((column) => `record.${column}`).join(', ');
  const event: EventSql = {
    organization_id: '$1',
    record_id: 'record.id',
    record: `(select row_to_json(stored) from (select ${stored}) stored)`,
    type,
    changed: `'{}'`,
    origin: String(instance),
    ...(Object.fromEntries(ofEvents) as ScheduledEvent['values']),
  };
  const from = `(select record.* from record
    join claimed on claimed.record_id = record.id and claimed.due_at = record."due at"
    where "is due" order by "due at", id) record`;
  return `with due as materialized (
      select record_id, due_at from scheduled_events
      where organization_id = $1 and type = ${type} and due_at <= now() order by due_at limit ${BATCH}),
    record as materialized (
      select due_at as "due at", ${notDeleted} and (${isDue}) as "is due"${more.join('')}, ${jsonFromTable}
      from due join ${name} on id = record_id where organization_id = $1
      for no key update of ${name} skip locked),
    claimed as (
      delete from scheduled_events moment using due
      where organization_id = $1 and type = ${type}
        and moment.record_id = due.record_id and moment.due_at = due.due_at
        and (due.record_id in (select id from record)
          or not exists (select from ${name} where organization_id = $1 and id = due.record_id))
      returning moment.record_id, moment.due_at),
    written as (${insertEvents(event, from)} returning 1)
    select (select count(*) from claimed) = ${BATCH} as "isFull", (select count(*)::int from written) as events`;
}
