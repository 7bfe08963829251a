import type { EventOfOrganization, StoredEvent } from './stored-event.js';
import { systemCall } from '../../platform/access/system-call.js';
import type { Call } from '../../platform/data/call.js';
import { eventIdOf } from './event-id.js';

/** The change of a record, as the feed shows it (docs/contract/events.md#events). */
export interface RecordedEvent {
  readonly id: string;
  /** Such as `lead.updated`. */
  readonly type: string;
  readonly created_at: string;
  /** The record after the change, as GET returns it. For a deletion, its last state. */
  readonly record: Readonly<Record<string, unknown>> & { readonly id: string };
  /** The names of the fields whose values changed. */
  readonly changed: readonly string[];
  /** Who changed it. Jobs and commands have neither a key nor a request. */
  readonly actor: {
    readonly key_id: string | null;
    readonly channel: string | null;
    readonly request_id: string | null;
    /** Set if a client has changed the record, to which a person has granted a part of the key. */
    readonly grant_id: string | null;
    readonly client_id: string | null;
  };
}

/** The JSON of an event. The record keeps the JSON that PostgreSQL stored. */
export function eventJsonOf(stored: StoredEvent): string {
  const { position, type, created_at, record, changed } = stored;
  const { key_id, channel, request_id, grant_id, client_id } = stored;
  const head = { id: eventIdOf(position), type, created_at };
  const tail = { changed, actor: { key_id, channel, request_id, grant_id, client_id } };
  return `${JSON.stringify(head).slice(0, -1)},"record":${record},${JSON.stringify(tail).slice(1)}`;
}

export function eventOf(stored: StoredEvent): RecordedEvent {
  return JSON.parse(eventJsonOf(stored)) as RecordedEvent;
}

/** The call of a handler of an event. */
export function handlerCallOf(stored: EventOfOrganization, handler: string): Call {
  return systemCall(stored, { id: eventIdOf(stored.position), name: handler });
}
