import type { EventOfOrganization, StoredEvent } from './stored-event.js';
import { systemCall } from '../../platform/access/system-call.js';
import type { Scope } from '../../platform/access/scopes.js';
import type { Call } from '../../platform/data/call.js';
import { eventIdOf } from './event-id.js';

/** The change of a record, as the feed shows it (docs/contract/events.md#events). */
export interface RecordedEvent {
  readonly id: string;
  /** Such as `lead.updated`. */
  readonly type: string;
  /** Whether the lead may be contacted, in events that time causes. Only callers with `CONTACT_SCOPE` receive it. */
  readonly contactable?: boolean;
  /** Which of the reminders of an appointment is due. */
  readonly remind_before_minutes?: number;
  readonly created_at: string;
  /** The record after the change, as GET returns it. For a deletion, its last state. */
  readonly record: Readonly<Record<string, unknown>> & { readonly id: string };
  /** The names of the fields whose values changed. */
  readonly changed: readonly string[];
  /** Who changed it. Jobs and commands have neither a key nor a request. */
  readonly actor: {
    readonly key_id: string | null;
    /** Its name, in reads by callers with `events:read`. */
    readonly key_name?: string | null;
    readonly channel: string | null;
    readonly request_id: string | null;
    /** Set if a client has changed the record, to which a person has granted a part of the key. */
    readonly grant_id: string | null;
    readonly client_id: string | null;
  };
}

/** The scope of callers that learn from events whether a lead may be contacted. */
export const CONTACT_SCOPE: Scope = 'leads:read';

/**
 * The JSON of an event. The record keeps the JSON that PostgreSQL stored.
 * @param scopes of the caller, who may read the record. Without it, the event has all fields.
 */
export function eventJsonOf(stored: StoredEvent, scopes?: ReadonlySet<string>): string {
  const { position, type, created_at, record, changed } = stored;
  const isShown = scopes?.has(CONTACT_SCOPE) ?? true;
  const contactable = isShown ? (stored.contactable ?? undefined) : undefined;
  const remind_before_minutes = stored.remind_before_minutes ?? undefined;
  const { key_id, key_name, channel, request_id, grant_id, client_id } = stored;
  const id = eventIdOf(position);
  const head = { id, type, contactable, remind_before_minutes, created_at };
  const actor = { key_id, key_name, channel, request_id, grant_id, client_id };
  const tail = { changed, actor };
  return `${JSON.stringify(head).slice(0, -1)},"record":${record},${JSON.stringify(tail).slice(1)}`;
}

export function eventOf(stored: StoredEvent): RecordedEvent {
  return JSON.parse(eventJsonOf(stored)) as RecordedEvent;
}

/** The call of a handler of an event. */
export function handlerCallOf(stored: EventOfOrganization, handler: string): Call {
  return systemCall(stored, { id: eventIdOf(stored.position), name: handler });
}
