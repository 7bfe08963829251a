import type { RecordColumns } from './record-columns.js';
import { deletesSoftly, type TenantTable } from './tenant-entity.js';

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
   * @param event SQL of the type, the changed fields, the key, the channel, the request id, the grant and its client
   * @param from `record`, and what `event` refers to
   * @param more columns that the records of these events have in addition
   */
  written(event: string, from = 'record', more: readonly string[] = []): string[] {
    const written = 'written as (select id, row_to_json(record)::text as json from record)';
    if (!this.table.events) return [written];
    const { hasComputed, storedNames } = this.columns;
    const stored = `select ${[...storedNames, ...more].map((name) => `record.${name}`).join(', ')}`;
    const json = hasComputed
      ? `(select row_to_json(stored) from (${stored}) stored)`
      : 'row_to_json(record)';
    const insert = `insert into event_outbox
        (organization_id, record_id, record, origin, type, changed,
        key_id, channel, request_id, grant_id, client_id)
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
