import { isDeepStrictEqual } from 'node:util';
import type { ChangeOrigin } from '../gateway/tenant.js';
import type { RecordColumns } from './record-columns.js';
import { deletesSoftly, type TenantTable } from './tenant-table.js';

/** Values of a change for its event. */
export interface EventValues {
  /** Such as `lead.updated`. */
  readonly type: string;
  /** Names of the fields that have another value now. */
  readonly changed: readonly string[];
  readonly origin: ChangeOrigin | undefined;
}

/** The columns of `request` with the origin of a change. */
export const ORIGIN_COLUMNS = 'key_id text, channel text, request_id text';

/** Qualified with `request.`, because the table can have columns with the same names. */
export const ORIGIN_SQL = 'request.key_id, request.channel, request.request_id';

/** The values of `ORIGIN_COLUMNS`. */
export function originColumnsOf(origin: ChangeOrigin | undefined): object {
  return { key_id: origin?.keyId, channel: origin?.channel, request_id: origin?.requestId };
}

/** SQL that writes the events of changed records. */
export class EventSql {
  /** @param instance the number of this instance of Latitude */
  constructor(
    private readonly table: TenantTable,
    private readonly columns: Pick<RecordColumns<never>, 'hasComputed' | 'storedNames'>,
    private readonly instance: number,
  ) {}

  /**
   * The CTE `written`, with the id and the JSON of the rows of `record`, and the CTE that writes their
   * events. The records of events have no computed fields.
   * @param event SQL of the type, the changed fields, the key, the channel and the request id
   * @param from `record`, and what `event` refers to
   */
  written(event: string, from = 'record'): string[] {
    const written = 'written as (select id, row_to_json(record)::text as json from record)';
    if (!this.table.events) return [written];
    const { hasComputed, storedNames } = this.columns;
    const stored = `select ${storedNames.map((name) => `record.${name}`).join(', ')}`;
    const json = hasComputed
      ? `(select row_to_json(stored) from (${stored}) stored)`
      : 'row_to_json(record)';
    const insert = `insert into event_outbox
        (organization_id, record_id, record, origin, type, changed, key_id, channel, request_id)
      select $1, record.id, ${json}, ${this.instance}, ${event} from ${from}`;
    return hasComputed
      ? [`event as (${insert})`, written]
      : [`written as (${insert} returning record_id as id, record::text as json)`];
  }
}

/** The type of an event, such as `lead.updated`. Statements for a table without events ignore it. */
export function eventTypeOf({ events }: TenantTable, change: string): string {
  return `${events?.name}.${change}`;
}

/** The types of the events of a table's records. */
export function eventTypesOf(table: TenantTable): readonly string[] {
  if (!table.events) return [];
  const changes = ['created', 'updated', ...Object.keys(table.events.transitions ?? {})];
  if (deletesSoftly(table)) changes.push('deleted');
  return changes.map((change) => eventTypeOf(table, change));
}

/** The type of the event of an update, by the new values of the changed fields. */
export function typeOfUpdate(
  table: TenantTable,
  changes: Readonly<Record<string, unknown>>,
  changed: readonly string[],
): string {
  const [first] = possibleTypesOf(table, changes).filter(({ fields }) =>
    fields.every((name) => changed.includes(name)),
  );
  return first?.type ?? eventTypeOf(table, 'updated');
}

/** The types other than `updated` that an update can have, each with the fields that must change for it. */
export function possibleTypesOf(
  table: TenantTable,
  changes: Readonly<Record<string, unknown>>,
): { type: string; fields: string[] }[] {
  return Object.entries(table.events?.transitions ?? {})
    .filter(([, values]) =>
      Object.entries(values).every(([name, value]) => changes[name] === value),
    )
    .map(([name, values]) => ({ type: eventTypeOf(table, name), fields: Object.keys(values) }));
}

/** The names of those fields of a record to which an update gives another value. */
export function changedNames(
  stored: object,
  changes: Readonly<Record<string, unknown>>,
  names: readonly string[],
): string[] {
  const before = stored as Readonly<Record<string, unknown>>;
  return names.filter((name) => name in changes && !isEqual(before[name], changes[name]));
}

/** Whether two values are equal as JSON. A Date equals its ISO string. */
function isEqual(one: unknown, other: unknown): boolean {
  return one === other || isDeepStrictEqual(toPlain(one), toPlain(other));
}

function toPlain(value: unknown): unknown {
  return value instanceof Date ? value.toJSON() : value;
}
